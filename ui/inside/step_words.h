// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QString>

#include "engine/experiment/inspect_step.h"
#include "engine/tokenizer/tokenizer.h"

namespace decodescope {

/// A query of a call: its row, and which of the row's queries.
struct QueryPlace {
    int row = -1;
    int query = -1;
};
/// The query that line `line` of the query x key matrix stands for, and the line of a query.
QueryPlace queryAt(const CallView& view, int line);
int lineOf(const CallView& view, QueryPlace place);
/// The query whose key is slot `key` of a row, or the row's last one; -1 without any.
int queryOfKey(const CallView& view, int row, int key);

/// What is said of a step and its cells. Numbers are those of the `StepView`.
class StepWords {
    Q_DECLARE_TR_FUNCTIONS(decodescope::StepWords)

public:
    /// `tokenizer` may be null; both live as long as this is used.
    StepWords(const StepView& step, const Tokenizer* tokenizer) : m_step(step), m_tokenizer(tokenizer) {}

    /// "query × key · step 9: one token after 16 cached".
    QString heading() const;
    /// Where the keys come from.
    QString keys() const;
    /// "48 of 80 query-key pairs are visible."
    QString summary() const;
    /// What is wrong with the step's positions and masks, or that nothing is.
    QString verdict() const;
    bool isRight() const;
    /// "Query 9 of row 0 cannot see key 2: padding. It sees 9 keys: 6 from the cache, 3 of this call."
    QString cell(int line, int key) const;
    /// The position id of a key and its query, with the expected ones.
    QString position(int row, int key) const;
    /// What a cell of the cache holds, for whom and since when.
    QString storage(int row, int key) const;
    /// "A", "B", ...; "nobody".
    static QString request(int request);

private:
    const CallView& view() const { return m_step.view; }
    const SlotView& slot(int row, int key) const;
    QString rowName(int row) const;
    QString token(int id) const;
    QString queryName(QueryPlace place) const;
    QString keyName(int row, int key) const;

    const StepView& m_step;
    const Tokenizer* m_tokenizer;
};

}  // namespace decodescope
