// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "engine/verify/verdict.h"
#include "ui/theme/card.h"

class QGridLayout;
class QScrollArea;

namespace decodescope {

/// What a verdict rests on: one line for each observation, marked whether it holds.
class EvidenceList : public Card {
    Q_OBJECT

public:
    explicit EvidenceList(QWidget* parent = nullptr);

    void setEvidence(const std::vector<VerdictEvidence>& evidence);
    void clear();
    /// As text, one observation a line.
    QString text() const { return m_text; }

private:
    QScrollArea* m_scroll;
    QWidget* m_body = nullptr;
    QString m_text;
};

}  // namespace decodescope
