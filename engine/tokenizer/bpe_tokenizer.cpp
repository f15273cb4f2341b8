// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/bpe_tokenizer.h"

#include "engine/tokenizer/token_checks.h"

namespace decodescope {

void BpeParts::take_added(std::vector<AddedToken> added) {
    std::vector<AddedToken> in_raw;
    std::vector<AddedToken> in_normalized;
    for (AddedToken& token : added) {
        if (token.special) special.push_back(token.id);
        (token.normalized ? in_normalized : in_raw).push_back(std::move(token));
    }
    std::sort(special.begin(), special.end());
    raw = AddedTokenFinder(std::move(in_raw));
    normalized = AddedTokenFinder(std::move(in_normalized));
}

Result<void> BpeParts::take_around(std::vector<std::int32_t> ids_before, std::vector<std::int32_t> ids_after,
                                   const std::string& label) {
    DS_TRY(check_ids_around(ids_before, bytes, label));
    DS_TRY(check_ids_around(ids_after, bytes, label));
    before = std::move(ids_before);
    after = std::move(ids_after);
    return {};
}

}  // namespace decodescope
