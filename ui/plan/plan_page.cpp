// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plan/plan_page.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/plan/shape_reader.h"
#include "ui/chart/format.h"
#include "ui/chart/matrix_chart.h"
#include "ui/experiment_panel/model_card.h"
#include "ui/plan/memory_bar.h"
#include "ui/plan/plan_form.h"
#include "ui/plan/plan_words.h"
#include "ui/text.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/rows_model.h"
#include "ui/widgets/scrolling_column.h"

namespace decodescope {

namespace {

constexpr int wideChars = 150;  // from this width on, cards stand side by side
// Kinds of a cell of the map.
constexpr std::uint8_t cellFits = 0;
constexpr std::uint8_t cellTooLarge = 1;

const ColorRef weightsColor = ColorRef::owner(static_cast<std::size_t>(Owner::weights));
const ColorRef kvColor = ColorRef::owner(static_cast<std::size_t>(Owner::kv));
const ColorRef workColor = ColorRef::owner(static_cast<std::size_t>(Owner::activations));
const ColorRef restColor = ColorRef::owner(static_cast<std::size_t>(Owner::workspace));

enum FigureIndex { perToken, weights, kv, work, total, left };

QString exactly(std::int64_t bytes) {
    return formatBytesExactly(bytes);
}

}  // namespace

PlanPage::PlanPage(Session& session, QWidget* parent) : QWidget(parent), m_session(session) {
    setAcceptDrops(true);
    const CardMetrics metrics(font());
    QVBoxLayout* column = scrollingColumn(this);
    QWidget* body = column->parentWidget();

    m_form = new PlanForm(body);
    m_form->setObjectName(QStringLiteral("planForm"));
    column->addWidget(m_form);
    column->addWidget(buildVerdict());

    m_map = new CellGrid(body);
    m_map->setObjectName(QStringLiteral("planMap"));
    m_map->setTitle(tr("What fits"));
    m_map->setSubtitle(tr("bytes in all, by requests and context; a click plans that cell"));
    m_map->setDefinition(
        tr("Weights, reserved cache, work of one call and the rest of huge pages, for so many requests of so "
           "many "
           "tokens each. It fits when this is no more than the memory less the reserve."));
    m_map->setEmptyText(tr("Type how much memory there is to see what fits"));
    m_map->setExportName(QStringLiteral("plan_map"));
    m_map->setNames(tr("requests"), tr("tokens"));
    m_map->setKinds({{tr("fits"), ColorRef{ColorRef::Role::good_soft, 0}},
                     {tr("does not fit"), ColorRef{ColorRef::Role::bad_soft, 0}}});
    m_map->setMaxCellSize(8, 2.2);
    m_map->setFixedHeight(metrics.line * 21);

    m_middle = new QBoxLayout(QBoxLayout::LeftToRight);
    m_middle->setSpacing(metrics.spacing);
    m_middle->addWidget(m_map, 3);
    m_middle->addWidget(buildVariants(), 2, Qt::AlignTop);
    column->addLayout(m_middle);
    m_bottom = new QBoxLayout(QBoxLayout::LeftToRight);
    m_bottom->setSpacing(metrics.spacing);
    m_bottom->addWidget(buildParts(), 1, Qt::AlignTop);
    m_bottom->addWidget(buildCheck(), 1, Qt::AlignTop);
    column->addLayout(m_bottom);
    column->addStretch(1);

    connect(m_form, &PlanForm::modelChanged, this, &PlanPage::modelChanged);
    connect(m_form, &PlanForm::edited, this, &PlanPage::updatePlan);
    connect(m_form, &PlanForm::browseRequested, this, &PlanPage::browseRequested);
    connect(m_map, &MatrixChart::cellSelected, this, [this](int row, int cell) {
        if (!m_report || m_map->columnCount() == 0) return;
        const auto index = static_cast<std::size_t>(row * m_map->columnCount() + cell);
        if (index >= m_report->plan.map.size()) return;
        const PlanCell chosen = m_report->plan.map[index];
        m_form->setLoad(chosen.batch, chosen.context);
    });
    connect(&session, &Session::modelLoaded, this, [this] {
        const ModelRef& ref = m_session.modelRef();
        m_form->setLoadedModel(modelTitle(ref), modelText(ref));
    });
    connect(&session, &Session::activityChanged, this, &PlanPage::updateCheck);
    updateCheck();
}

Card* PlanPage::buildVerdict() {
    const CardMetrics metrics(font());
    auto* card = new Card(this);
    card->setObjectName(QStringLiteral("planVerdictCard"));
    m_verdict = new ToneLabel(card);
    m_verdict->setObjectName(QStringLiteral("planVerdict"));
    m_verdict->setFont(metrics.title);
    m_more = mutedLabel({}, card);
    m_more->setObjectName(QStringLiteral("planMore"));
    m_notes = mutedLabel({}, card);
    m_notes->setObjectName(QStringLiteral("planNotes"));
    for (QLabel* label : {static_cast<QLabel*>(m_verdict), m_more, m_notes}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    m_bar = new MemoryBar(card);
    m_bar->setObjectName(QStringLiteral("planBar"));
    auto* row = new QHBoxLayout;
    row->setSpacing(metrics.padding);
    const auto add = [&](const QString& name, std::optional<ColorRef> color) {
        auto* column = new QVBoxLayout;
        column->setSpacing(0);
        auto* head = new QHBoxLayout;
        head->setSpacing(metrics.padding / 3);
        Figure figure{mutedLabel(name, card), new QLabel(card)};
        if (color) head->addWidget(new Swatch(*color, card));
        head->addWidget(figure.name);
        head->addStretch(1);
        column->addLayout(head);
        figure.value->setFont(metrics.title);
        figure.value->setAccessibleName(name);
        figure.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(figure.value);
        row->addLayout(column, 1);
        m_figures.push_back(figure);
    };
    add(tr("Cache per token"), std::nullopt);
    add(tr("Weights"), weightsColor);
    add(tr("Cache"), kvColor);
    add(tr("Work"), workColor);
    add(tr("In all"), std::nullopt);
    add(tr("Left for caches"), std::nullopt);
    card->content()->addWidget(m_verdict);
    card->content()->addWidget(m_more);
    card->content()->addSpacing(metrics.padding / 3);
    card->content()->addLayout(row);
    card->content()->addWidget(m_bar);
    card->content()->addWidget(m_notes);
    card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return card;
}

Card* PlanPage::buildVariants() {
    m_variantsCard = new Card(tr("Kinds of attention"), {}, this);
    m_variantsCard->setObjectName(QStringLiteral("planVariantsCard"));
    m_variants = new RowsModel(
        {{tr("Kind")},
         {tr("Per token"), tr("Bytes of keys and values of one token, all layers")},
         {tr("Planned"), tr("Of all requests at the planned context")},
         {tr("Less than MHA"), tr("What it saves against keys and values of every query head")}},
        this);
    PlainTable::inCard(m_variantsCard, m_variants, "planVariants", tr("Cache of each kind of attention"),
                       {{2.0, QStringLiteral("GQA, 88 KV heads")},
                        {1.0, QStringLiteral("888 KiB")},
                        {1.0, QStringLiteral("88.8 GiB")},
                        {1.0, QStringLiteral("88.8 %")}});
    return m_variantsCard;
}

Card* PlanPage::buildParts() {
    auto* card = new Card(tr("Plan"), tr("each part and where it comes from"), this);
    card->setObjectName(QStringLiteral("planPartsCard"));
    m_parts = new RowsModel({{tr("Part")}, {tr("Bytes")}, {tr("How"), {}, true}}, this);
    PlainTable::inCard(card, m_parts, "planParts", tr("Parts of the plan"),
                       {{1.0, QStringLiteral("KV tables and positions")},
                        {0.2, QStringLiteral("888,888,888,888 B")},
                        {3.0, QStringLiteral("of calls of 1 x 8888 tokens")}});
    return card;
}

void PlanPage::openFile(const QString& path) {
    if (!m_listed) m_listed = m_form->loadKnownModels().ok();
    m_form->openFile(path);
}

void PlanPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (!m_listed) {
        const Result<void> listed = m_form->loadKnownModels();
        m_listed = listed.ok();
        if (!listed) m_modelProblem = QString::fromStdString(listed.error().message);
    }
    m_form->setAvailable(available_memory());
    if (m_stale) modelChanged();
    m_map->flush();
}

void PlanPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool wide = width() >= fontMetrics().averageCharWidth() * wideChars;
    const auto direction = wide ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom;
    for (QBoxLayout* layout : {m_middle, m_bottom}) {
        if (layout->direction() == direction) continue;
        layout->setDirection(direction);
    }
}

void PlanPage::modelChanged() {
    if (!isVisible()) {
        m_stale = true;
        return;
    }
    m_stale = false;
    m_shape.reset();
    const QString text = m_form->modelText();
    if (text.isEmpty()) {
        showProblem(m_modelProblem.isEmpty()
                        ? tr("Choose a model: the loaded one, a published configuration, or open a file.")
                        : m_modelProblem);
        return;
    }
    Result<PlanShape> shape = read_shape(text.toStdString());
    if (!shape) {
        showProblem(QString::fromStdString(shape.error().message));
        return;
    }
    m_shape = *std::move(shape);
    // What the model's own numbers are, whatever was chosen for the one before it.
    if (const Result<PlanRequest> usual = plan_request(*m_shape, {})) m_form->setShape(*m_shape, *usual);
    updatePlan();
}

std::optional<PlanReport> PlanPage::makeReport(bool check, QString* problem) {
    PlanReport report;
    report.shape = *m_shape;
    PlanChoices choices = m_form->choices();
    choices.check = check;
    if (const std::int64_t parameters = m_form->parameters(); parameters > 0) {
        if (const Result<void> stated = state_parameters(report.shape, parameters); !stated) {
            *problem = QString::fromStdString(stated.error().message);
            return std::nullopt;
        }
    }
    Result<PlanRequest> request = plan_request(report.shape, choices);
    if (!request) {
        *problem = QString::fromStdString(request.error().message);
        return std::nullopt;
    }
    report.request = *std::move(request);
    Result<MemoryPlan> plan = plan_memory(report.shape, report.request);
    if (!plan) {
        *problem = QString::fromStdString(plan.error().message);
        return std::nullopt;
    }
    report.plan = *std::move(plan);
    return report;
}

void PlanPage::updatePlan() {
    if (!m_shape) return;
    if (m_checking) m_session.stop();  // it would answer for another plan
    m_check.reset();
    m_checkProblem.clear();
    QString problem;
    m_report = makeReport(false, &problem);
    if (!m_report) {
        showProblem(problem);
        return;
    }
    showReport();
}

void PlanPage::showProblem(const QString& sentence) {
    m_report.reset();
    m_verdict->setTone({ColorRef::Role::bad, 0});
    m_verdict->setText(sentence);
    m_more->setText(tr("Change what is planned above, or choose another model."));
    m_notes->clear();
    m_notes->hide();
    for (const Figure& figure : m_figures) {
        figure.value->setText(QStringLiteral("–"));
        figure.value->setToolTip({});
    }
    m_bar->setParts({}, 0, 0);
    m_variants->setRows({});
    m_variantsCard->setSubtitle({});
    m_parts->setRows({});
    m_map->setCells(0, 0, {});
    m_map->flush();
    updateCheck();
}

void PlanPage::showReport() {
    const PlanVerdict verdict = planVerdict(*m_report);
    m_verdict->setTone({verdict.kind == PlanVerdict::Kind::fits         ? ColorRef::Role::good
                        : verdict.kind == PlanVerdict::Kind::doesNotFit ? ColorRef::Role::bad
                                                                        : ColorRef::Role::warn,
                        0});
    m_verdict->setText(verdict.sentence);
    m_more->setText(verdict.more);
    QStringList notes;
    for (const std::string& note : m_report->shape.notes) notes << QString::fromStdString(note);
    m_notes->setText(notes.join(QLatin1Char('\n')));
    m_notes->setVisible(!notes.isEmpty());
    showFigures();
    showVariants();
    showParts();
    showMap();
    updateCheck();
}

void PlanPage::showFigures() {
    const MemoryPlan& plan = m_report->plan;
    const PlanRequest& request = m_report->request;
    const bool known = plan.weights > 0;
    const auto set = [&](FigureIndex index, std::int64_t bytes, bool isKnown, const QString& definition) {
        QLabel* value = m_figures[index].value;
        value->setText(isKnown ? signedBytes(bytes) : tr("not known"));
        const QString text = isKnown
                                 ? definition + QLatin1Char('\n') +
                                       (bytes < 0 ? QStringLiteral("−") + exactly(-bytes) : exactly(bytes))
                                 : definition;
        value->setToolTip(text);
        m_figures[index].name->setToolTip(text);
    };
    set(perToken, plan.kv.per_token, true,
        tr("Keys and values of one stored token, all layers: %1")
            .arg(QString::fromStdString(cache_name(request))));
    set(weights, plan.weights, known, tr("Weights: %1").arg(QString::fromStdString(weights_name(request))));
    set(kv, plan.kv.reserved, true, tr("Allocated for the entries of all requests"));
    set(work, plan.work(), true, tr("Activations, logits and attention scratch of one call"));
    set(total, plan.total(), known, tr("Weights, cache, work and the rest of huge pages"));
    set(left, plan.left_for_kv, known && request.memory > 0, tr("Memory less reserve, weights and work"));
    m_bar->setParts({{tr("weights"), weightsColor, plan.weights},
                     {tr("cache"), kvColor, plan.kv.reserved},
                     {tr("work"), workColor, plan.work()},
                     {tr("rest of huge pages"), restColor, plan.page_rounding}},
                    known ? request.memory : 0, request.reserve);
}

void PlanPage::showVariants() {
    m_variantsCard->setSubtitle(tr("the same model otherwise, %1 · this one: %2")
                                    .arg(QString::fromLatin1(to_string(variant_type(*m_report))),
                                         QString::fromStdString(attention_name(m_report->shape))));
    std::vector<std::vector<RowsModel::Cell>> rows;
    for (const AttentionVariant& variant : attention_variants(*m_report)) {
        const bool own = variant.own;
        rows.push_back(
            {{QString::fromStdString(variant.name),
              own ? tr("This model's own kind") : QString(),
              own ? std::optional(ColorRef::Role::accent) : std::nullopt,
              {},
              own},
             {formatBytes(static_cast<double>(variant.per_token)), exactly(variant.per_token), {}, {}, own},
             {formatBytes(static_cast<double>(variant.bytes)), exactly(variant.bytes), {}, {}, own},
             {QStringLiteral("%1 %").arg(formatNumber(variant.saving)), {}, {}, {}, own}});
    }
    m_variants->setRows(std::move(rows));
}

void PlanPage::showParts() {
    std::vector<std::vector<RowsModel::Cell>> rows;
    for (const PlanPart& part : plan_parts(*m_report)) {
        const QString how = QString::fromStdString(part.how);
        const bool sum = std::string_view(part.key) == "total";
        rows.push_back({{engineWord(part.name), {}, {}, {}, sum},
                        {part.known ? exactly(part.bytes) : tr("not known"),
                         part.known ? formatBytes(static_cast<double>(part.bytes)) : QString(),
                         {},
                         {},
                         sum},
                        {how, how, ColorRef::Role::muted}});
    }
    m_parts->setRows(std::move(rows));
}

void PlanPage::showMap() {
    const std::vector<PlanCell>& map = m_report->plan.map;
    QStringList batches;
    QStringList contexts;
    std::vector<std::uint8_t> kinds;
    std::vector<QString> texts;
    QPoint planned(-1, -1);
    for (const PlanCell& cell : map) {
        const QString batch = formatCount(cell.batch);
        if (batches.isEmpty() || batches.back() != batch) batches << batch;
        if (batches.size() == 1) contexts << formatCount(cell.context);
        kinds.push_back(cell.fits ? cellFits : cellTooLarge);
        texts.push_back(formatBytes(static_cast<double>(cell.total)));
    }
    const int columns = static_cast<int>(contexts.size());
    for (int i = 0; i < static_cast<int>(map.size()); ++i) {
        const PlanCell& cell = map[static_cast<std::size_t>(i)];
        if (cell.batch == m_report->request.batch && cell.context == m_report->request.context)
            planned = {i % columns, i / columns};
    }
    m_map->setRowLabels(batches);
    m_map->setColumnLabels(contexts);
    m_map->setCells(static_cast<int>(batches.size()), columns, kinds);
    m_map->setTexts(std::move(texts));
    m_map->setCellDescriber([this](int row, int column) {
        const auto index = static_cast<std::size_t>(row * m_map->columnCount() + column);
        if (!m_report || index >= m_report->plan.map.size()) return QString();
        return cellSentence(*m_report, m_report->plan.map[index]);
    });
    m_map->setEmptyText(m_report->plan.weights == 0
                            ? tr("Type how many parameters the model has to see what fits")
                            : tr("Type how much memory there is to see what fits"));
    m_map->setSelectedCell(planned.y(), planned.x());
    m_map->flush();
}

void PlanPage::dragEnterEvent(QDragEnterEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void PlanPage::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() != 1 || !urls.front().isLocalFile()) return;
    const QFileInfo info(urls.front().toLocalFile());
    const bool config =
        info.suffix() == QLatin1String("json") && info.fileName().contains(QLatin1String("config"));
    const bool folder = info.isDir() && QFileInfo::exists(info.filePath() + QStringLiteral("/config.json"));
    if (!config && !folder && info.suffix() != QLatin1String("gguf")) {
        event->ignore();  // the window knows what to do with it
        return;
    }
    event->acceptProposedAction();
    openFile(info.absoluteFilePath());
}

}  // namespace decodescope
