// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/exactness/verdict_words.h"

#include <QStringList>

#include "ui/help/fault_kinds.h"
#include "ui/text.h"

namespace decodescope {

VerdictLook lookOf(VerdictWord word) {
    using Role = ColorRef::Role;
    switch (word) {
        case VerdictWord::equal: return {QStringLiteral("✓"), Role::good};
        case VerdictWord::precision: return {QStringLiteral("≈"), Role::accent};
        case VerdictWord::harmless: return {QStringLiteral("✓"), Role::good};
        case VerdictWord::fault: return {QStringLiteral("✗"), Role::bad};
        case VerdictWord::cannot_tell: return {QStringLiteral("?"), Role::warn};
    }
    return {QStringLiteral("?"), Role::warn};
}

QString headlineOf(const Verdict& verdict) {
    const QString kind = verdict.kind ? faultKindTitle(*verdict.kind) : QString();
    switch (verdict.word) {
        case VerdictWord::equal: return tr("Equal: up to the rounding of f32");
        case VerdictWord::precision: return tr("Precision: rounding of a narrower type, no fault");
        case VerdictWord::harmless:
            return kind.isEmpty() ? tr("Harmless") : tr("Harmless: no logit can show it (%1)").arg(kind);
        case VerdictWord::fault:
            return kind.isEmpty() ? tr("A fault, not rounding") : tr("A fault, not rounding: %1").arg(kind);
        case VerdictWord::cannot_tell: return tr("Cannot tell from this run");
    }
    return {};
}

QString certaintyText(Certainty certainty) {
    switch (certainty) {
        case Certainty::certain: return tr("certain");
        case Certainty::likely: return tr("likely");
        case Certainty::possible: return tr("possible");
    }
    return {};
}

QString placeText(const VerdictPlace& place) {
    QStringList parts;
    if (place.call >= 0) parts << tr("call %1").arg(place.call);
    if (!place.request.empty()) parts << tr("request %1").arg(QString::fromStdString(place.request));
    if (place.row >= 0) parts << tr("row %1").arg(place.row);
    if (place.column >= 0) parts << tr("column %1").arg(place.column);
    if (place.layer >= 0) parts << tr("layer %1").arg(place.layer);
    if (!place.tensor.empty()) parts << QString::fromStdString(place.tensor);
    return parts.join(QStringLiteral(" → "));
}

}  // namespace decodescope
