// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/verify/verify_model.h"

#include <algorithm>

#include "engine/verify/verify_context.h"

namespace decodescope {

bool VerifyReport::all_held() const {
    return std::all_of(checks.begin(), checks.end(), [](const VerifyCheck& check) { return check.held; });
}

Result<VerifyReport> verify_model(const LoadedModel& model, const VerifyOptions& options,
                                  std::shared_ptr<MemoryLedger> ledger, std::stop_token stop) {
    VerifyContext context(model, options, std::move(ledger), std::move(stop));
    DS_TRY(context.prepare());
    for (const auto check : {check_model, check_caches, check_windows, check_batches, check_speculation})
        DS_TRY(check(context));
    return context.take_report();
}

}  // namespace decodescope
