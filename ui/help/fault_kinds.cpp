// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/fault_kinds.h"

#include <QStringList>

#include "engine/fault/fault_catalogue.h"
#include "ui/text.h"

namespace decodescope {

QString faultKindTitle(FaultKind kind) {
    switch (kind) {
        case FaultKind::position: return tr("Position ids");
        case FaultKind::mask: return tr("Causal mask");
        case FaultKind::padding: return tr("Padding");
        case FaultKind::isolation: return tr("Isolation of requests");
        case FaultKind::content: return tr("Content of the cache");
        case FaultKind::window: return tr("Sliding window");
        case FaultKind::capacity: return tr("Capacity");
        case FaultKind::rollback: return tr("Rollback of drafts");
        case FaultKind::prefix: return tr("Shared prefixes");
        case FaultKind::state: return tr("State under the cache");
        case FaultKind::mode: return tr("Mode, chance");
        case FaultKind::head_layout: return tr("Heads and axes");
        case FaultKind::batch: return tr("Rows of a batch");
        case FaultKind::dtype: return tr("Number types and scales");
        case FaultKind::other_model: return tr("Another model");
        case FaultKind::cost: return tr("Cost");
    }
    return {};
}

QString faultTitles(const std::vector<std::string>& ids) {
    QStringList titles;
    for (const std::string& id : ids) {
        const Result<Fault> fault = fault_from_id(id);
        titles << (fault ? bundledText(fault_info(*fault).title) : QString::fromStdString(id));
    }
    return titles.join(QStringLiteral(", "));
}

}  // namespace decodescope
