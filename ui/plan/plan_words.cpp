// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plan/plan_words.h"

#include "ui/chart/format.h"
#include "ui/text.h"

namespace decodescope {

namespace {

QString bytesText(std::int64_t bytes) {
    return formatBytes(static_cast<double>(bytes));
}

}  // namespace

QString modelText(const ModelRef& ref) {
    if (ref.preset.empty()) return QString::fromStdString(ref.path);
    return QStringLiteral("preset:%1,seed=%2").arg(QString::fromStdString(ref.preset)).arg(ref.seed);
}

QString signedBytes(std::int64_t bytes) {
    return bytes < 0 ? QStringLiteral("−") + bytesText(-bytes) : bytesText(bytes);
}

QString requestsText(std::int64_t n) {
    return n == 1 ? tr("1 request") : tr("%1 requests").arg(formatCount(n));
}

PlanVerdict planVerdict(const PlanReport& report) {
    const MemoryPlan& plan = report.plan;
    const PlanRequest& request = report.request;
    const QString planned =
        tr("%1 of %2 tokens").arg(requestsText(request.batch), formatCount(request.context));
    if (plan.weights == 0) {
        return {PlanVerdict::Kind::unknown, tr("What fits is not known without the weights"),
                tr("The configuration does not tell the tensors: type how many parameters the model has.")};
    }
    if (request.memory == 0) {
        return {PlanVerdict::Kind::unknown, tr("%1 need %2").arg(planned, bytesText(plan.total())),
                tr("How much memory there is here is not known: type it to see what fits.")};
    }
    const QString memory = bytesText(request.memory);
    if (plan.left_for_kv <= 0) {
        return {PlanVerdict::Kind::doesNotFit,
                tr("Does not fit: weights and work leave nothing of %1 for the cache").arg(memory),
                tr("Give it more memory, a smaller type of weights, or fewer prompt tokens per call.")};
    }
    const QString most =
        tr("Room for %1 of %2 tokens, or %3 tokens for each of %4%5")
            .arg(requestsText(plan.fitting_requests), formatCount(request.context),
                 formatCount(plan.fitting_context), requestsText(request.batch),
                 plan.limited_by_positions ? tr(", all the positions that the model has") : QString());
    if (plan.fitting_context < request.context) {
        return {PlanVerdict::Kind::doesNotFit,
                tr("Does not fit: %1 need %2, there are %3").arg(planned, bytesText(plan.total()), memory),
                most};
    }
    return {PlanVerdict::Kind::fits,
            tr("Fits: %1 need %2 of %3").arg(planned, bytesText(plan.total()), memory), most};
}

QString cellSentence(const PlanReport& report, const PlanCell& cell) {
    const QString load = tr("%1 of %2 tokens: cache %3, %4 in all")
                             .arg(requestsText(cell.batch), formatCount(cell.context),
                                  bytesText(cell.kv_reserved), bytesText(cell.total));
    const QString memory = bytesText(report.request.memory);
    return cell.fits ? tr("%1. Fits into %2.").arg(load, memory)
                     : tr("%1. Does not fit into %2.").arg(load, memory);
}

}  // namespace decodescope
