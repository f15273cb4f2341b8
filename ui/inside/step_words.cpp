// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/inside/step_words.h"

#include <algorithm>

#include "engine/core/as_index.h"
#include "ui/chart/format.h"
#include "ui/text.h"

namespace decodescope {

namespace {

QString count(std::int64_t n) {
    return formatCount(n);
}

}  // namespace

QueryPlace queryAt(const CallView& view, int line) {
    for (int b = 0; b < view.plan.batch(); ++b) {
        const int query = line - view.plan.first_query(b);
        if (query >= 0 && query < view.plan.n_query(b)) return {b, query};
    }
    return {};
}

int lineOf(const CallView& view, QueryPlace place) {
    if (place.row < 0 || place.row >= view.plan.batch() || place.query < 0) return -1;
    return view.plan.first_query(place.row) + place.query;
}

int queryOfKey(const CallView& view, int row, int key) {
    if (row < 0 || as_index(row) >= view.rows.size()) return -1;
    const RowView& here = view.rows[as_index(row)];
    if (key >= 0 && as_index(key) < here.keys.size() && here.keys[as_index(key)].from_call) {
        for (std::size_t q = 0; q < here.queries.size(); ++q) {
            if (here.queries[q].expected >= 0 &&
                here.queries[q].expected == here.keys[as_index(key)].expected)
                return static_cast<int>(q);
        }
    }
    return static_cast<int>(here.queries.size()) - 1;
}

const SlotView& StepWords::slot(int row, int key) const {
    return view().rows.at(as_index(row)).keys.at(as_index(key));
}

QString StepWords::request(int request) {
    if (request < 0) return tr("nobody");
    QString name;
    for (int i = request; i >= 0; i = i / 26 - 1) name.prepend(QChar(u'A' + i % 26));
    return name;
}

QString StepWords::rowName(int row) const {
    return view().rows.size() == 1 ? QString() : tr(" of row %1").arg(row);
}

QString StepWords::token(int id) const {
    if (id < 0) return {};
    if (m_tokenizer == nullptr) return tr("token %1").arg(id);
    const std::int32_t one[] = {id};
    QString written = QString::fromStdString(m_tokenizer->decode(one));
    written.replace(QLatin1Char('\n'), QStringLiteral("\\n"));
    return tr("token “%1”").arg(written);
}

QString StepWords::heading() const {
    const auto& rows = view().rows;
    int queries = 0;
    int rows_fed = 0;
    int most = 0;
    int stored = 0;
    for (const RowView& row : rows) {
        const auto n = static_cast<int>(row.queries.size());
        queries += n;
        rows_fed += n > 0;
        most = std::max(most, n);
        for (const SlotView& key : row.keys) stored += key.position >= 0 && !key.from_call;
    }
    const QString what = m_step.phase == Phase::prefill ? tr("prefill") : tr("step %1").arg(m_step.step);
    const QString tokens = queries == 1 ? tr("one token") : tr("%1 tokens").arg(count(queries));
    QString how;
    if (rows_fed > 1) {
        how = most == 1 ? tr("%1 rows, one token each").arg(rows_fed)
                        : tr("%1 rows of up to %2 tokens").arg(rows_fed).arg(count(most));
    } else if (!view().cached) {
        how = m_step.step == 0 ? tr("the whole prompt of %1").arg(count(queries))
                               : tr("all %1 tokens once more").arg(count(queries));
    } else {
        how = tokens;
    }
    if (view().cached && stored > 0) how = tr("%1 after %2 cached").arg(how, count(stored));
    QString call;
    if (m_step.n_call > 1) call = tr(" · call %1 of %2").arg(m_step.call + 1).arg(m_step.n_call);
    return tr("query × key · %1: %2%3").arg(what, how, call);
}

QString StepWords::keys() const {
    if (!view().cached) return tr("every key is computed in this call");
    std::int64_t cached = 0;
    std::int64_t fresh = 0;
    std::int64_t pads = 0;
    for (const RowView& row : view().rows) {
        for (const SlotView& key : row.keys) {
            cached += key.position >= 0 && !key.from_call;
            fresh += key.from_call;
            pads += key.position == slot_padding;
        }
    }
    QString words = cached == 0
                        ? tr("every key is computed in this call")
                        : tr("%1 keys from the cache, %2 of this call").arg(count(cached), count(fresh));
    if (pads > 0) words += tr(", %1 pads").arg(count(pads));
    return words;
}

QString StepWords::summary() const {
    QString words =
        tr("%1 of %2 query-key pairs are visible.").arg(count(m_step.n_visible), count(m_step.n_pair));
    if (view().n_accepted >= 0) {
        words += QLatin1Char(' ') +
                 tr("%1 of %2 drafts were kept.")
                     .arg(view().n_accepted)
                     .arg(view().rows.empty() ? 0 : static_cast<int>(view().rows[0].queries.size()) - 1);
    }
    return words;
}

bool StepWords::isRight() const {
    return view().error.empty() && view().n_wrong_positions() == 0 && m_step.n_wrong_cell == 0;
}

QString StepWords::verdict() const {
    if (!view().error.empty()) return tr("this call failed");
    const std::int64_t cells = m_step.n_wrong_cell;
    for (std::size_t b = 0; b < view().rows.size(); ++b) {
        for (const QueryView& query : view().rows[b].queries) {
            if (query.used >= 0 && query.used != query.expected) {
                return tr("position fault: row %1 expects %2, used %3")
                    .arg(b)
                    .arg(query.expected)
                    .arg(query.used);
            }
        }
    }
    if (cells > 0)
        return cells == 1 ? tr("mask fault: one pair against the rule")
                          : tr("mask fault: %1 pairs against the rule").arg(count(cells));
    if (const int wrong = view().n_wrong_positions(); wrong > 0)
        return tr("position fault: %1 keys have another position id").arg(count(wrong));
    return tr("mask and positions follow the rules");
}

QString StepWords::queryName(QueryPlace place) const {
    const QueryView& query = view().rows.at(as_index(place.row)).queries.at(as_index(place.query));
    return tr("Query %1%2").arg(query.expected >= 0 ? query.expected : place.query).arg(rowName(place.row));
}

QString StepWords::keyName(int row, int key) const {
    const SlotView& here = slot(row, key);
    return here.expected >= 0 && here.expected != key ? tr("key %1 (position %2)").arg(key).arg(here.expected)
                                                      : tr("key %1").arg(key);
}

QString StepWords::cell(int line, int key) const {
    const QueryPlace place = queryAt(view(), line);
    if (place.row < 0 || key < 0) return {};
    if (key >= view().plan.n_slot(place.row)) return tr("Row %1 has no key %2.").arg(place.row).arg(key);
    const QueryView& query = view().rows[as_index(place.row)].queries.at(as_index(place.query));
    if (query.expected == slot_padding && view().n_seen(place.row, place.query) == 0)
        return tr("Token %1 of row %2 is padding: it sees nothing, and nothing is read from it.")
            .arg(place.query)
            .arg(place.row);
    const SlotView& there = slot(place.row, key);
    const QString who = queryName(place);
    const QString whom = keyName(place.row, key);
    const MaskCell kind = view().cell(place.row, place.query, key);
    const auto cannot = [&](const QString& why) { return tr("%1 cannot see %2: %3.").arg(who, whom, why); };
    QString words;
    switch (kind) {
        case MaskCell::visible: {
            const int back = query.expected - there.expected;
            const QString origin = there.from_call ? tr("of this call") : tr("from the cache");
            words = back == 0 ? tr("%1 sees %2, its own.").arg(who, whom)
                    : back == 1
                        ? tr("%1 sees %2, one position back (%3).").arg(who, whom, origin)
                        : tr("%1 sees %2, %3 positions back (%4).").arg(who, whom).arg(back).arg(origin);
            break;
        }
        case MaskCell::future: words = cannot(tr("it lies in the future")); break;
        case MaskCell::padding: words = cannot(tr("padding")); break;
        case MaskCell::outside_window: words = cannot(tr("it lies outside the window")); break;
        case MaskCell::empty: words = cannot(tr("the slot is empty")); break;
        case MaskCell::wrongly_seen:
            words = tr("%1 sees %2, although the rule hides it: %3.")
                        .arg(who, whom, engineWord(to_string(view().plan.cell(place.row, place.query, key))));
            break;
        case MaskCell::wrongly_hidden:
            words = tr("%1 does not see %2, although the rule shows it.").arg(who, whom);
            break;
    }
    if (m_step.weights && m_step.weights->query_bin == 1 && m_step.weights->key_bin == 1 &&
        (kind == MaskCell::visible || kind == MaskCell::wrongly_seen)) {
        const WeightMatrix& weights = *m_step.weights;
        const float weight = weights.values[as_index(line) * as_index(weights.columns()) + as_index(key)];
        words += QLatin1Char(' ') + tr("Weight %1 in head %2 of layer %3.")
                                        .arg(formatNumber(static_cast<double>(weight)))
                                        .arg(weights.head)
                                        .arg(m_step.layer);
    }
    std::int64_t cached = 0;
    std::int64_t fresh = 0;
    for (const SlotRange& range : view().plan.visible(place.row, place.query)) {
        for (int k = range.begin; k < range.end; ++k) {
            const bool own =
                as_index(k) < view().rows[as_index(place.row)].keys.size() && slot(place.row, k).from_call;
            (own ? fresh : cached) += 1;
        }
    }
    const QString all =
        cached + fresh == 1 ? tr("It sees one key") : tr("It sees %1 keys").arg(count(cached + fresh));
    words += QLatin1Char(' ') +
             (cached == 0 || fresh == 0
                  ? tr("%1 in all.").arg(all)
                  : tr("%1: %2 from the cache, %3 of this call.").arg(all, count(cached), count(fresh)));
    return words;
}

QString StepWords::position(int row, int key) const {
    if (row < 0 || as_index(row) >= view().rows.size() ||
        as_index(key) >= view().rows[as_index(row)].keys.size())
        return {};
    const SlotView& here = slot(row, key);
    const QString name = tr("Key %1%2").arg(key).arg(rowName(row));
    if (here.position == slot_padding) return tr("%1 is padding: it has no position.").arg(name);
    if (here.position < 0) return tr("%1: the slot is empty.").arg(name);
    QString words =
        here.used == here.expected
            ? tr("%1 was made with position id %2, as expected.").arg(name).arg(here.used)
        : here.expected < 0
            ? tr("%1 was made with position id %2; nobody expects it.").arg(name).arg(here.used)
            : tr("%1 was made with position id %2, expected %3.").arg(name).arg(here.used).arg(here.expected);
    const int q = queryOfKey(view(), row, key);
    if (here.from_call && q >= 0) {
        const QueryView& query = view().rows[as_index(row)].queries[as_index(q)];
        if (query.used != here.used)
            words +=
                QLatin1Char(' ') + tr("Its query used %1, expected %2.").arg(query.used).arg(query.expected);
    }
    return words;
}

QString StepWords::storage(int row, int key) const {
    if (row < 0 || as_index(row) >= view().rows.size() ||
        as_index(key) >= view().rows[as_index(row)].keys.size())
        return {};
    const SlotView& here = slot(row, key);
    const QString name = tr("Slot %1%2").arg(key).arg(rowName(row));
    if (here.position == slot_padding) return tr("%1 holds a pad: bytes without a use.").arg(name);
    if (here.position < 0) return tr("%1 is empty.").arg(name);
    QString words = tr("%1: %2 at position %3, request %4")
                        .arg(name, token(here.token))
                        .arg(here.expected)
                        .arg(request(here.request));
    const int age = m_step.step - here.step;
    words += here.step < 0 ? tr(", taken over from a known prefix")
             : age == 0    ? tr(", stored in this step")
             : age == 1    ? tr(", stored one step ago")
                           : tr(", stored %1 steps ago").arg(count(age));
    if (here.block >= 0) {
        words += tr(", block %1").arg(here.block);
        const int references = view().blocks.at(as_index(here.block)).references;
        if (references > 1) words += tr(" shared by %1 rows").arg(references);
    }
    if (here.bits > 0) words += tr(", quantised to %1 bits").arg(here.bits);
    if (here.evicted) words += tr(", forgotten after this call");
    return words + QLatin1Char('.');
}

}  // namespace decodescope
