// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/core/utf8.h"

namespace decodescope {

namespace {

/// The characters of one valid stretch, taken apart. Filled by character and not by the library's
/// whole-string call, whose ordering of marks takes quadratic time on text that is nothing but marks.
class Stretch {
public:
    void add(char32_t c) {
        std::array<utf8proc_int32_t, 32> parts{};
        int boundary = 0;
        const auto n = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(), parts.size(),
                                               UTF8PROC_DECOMPOSE, &boundary);
        if (n <= 0 || static_cast<std::size_t>(n) > parts.size()) {
            characters_.push_back(static_cast<utf8proc_int32_t>(c));
            return;
        }
        characters_.insert(characters_.end(), parts.begin(), parts.begin() + n);
    }

    void flush(std::string& out) {
        if (characters_.empty()) return;
        order_marks();
        const auto n =
            utf8proc_normalize_utf32(characters_.data(), static_cast<utf8proc_ssize_t>(characters_.size()),
                                     static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
        if (n >= 0) characters_.resize(static_cast<std::size_t>(n));
        for (const utf8proc_int32_t c : characters_) append_utf8(out, static_cast<char32_t>(c));
        characters_.clear();
    }

private:
    static int class_of(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

    void order_marks() {
        for (auto at = characters_.begin(); at != characters_.end();) {
            if (class_of(*at) == 0) {
                ++at;
                continue;
            }
            const auto end = std::find_if(at, characters_.end(), [](auto c) { return class_of(c) == 0; });
            std::stable_sort(at, end, [](auto a, auto b) { return class_of(a) < class_of(b); });
            at = end;
        }
    }

    std::vector<utf8proc_int32_t> characters_;
};

}  // namespace

std::string to_nfc(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    const auto is_ascii = [&](std::size_t at) {
        return at >= text.size() || static_cast<unsigned char>(text[at]) < 0x80;
    };
    Stretch stretch;
    for (std::size_t at = 0; at < text.size();) {
        // Nothing composes with an ASCII character behind it, so one with another behind it stays as it is.
        if (is_ascii(at)) {
            stretch.flush(out);
            std::size_t end = at;
            while (end < text.size() && is_ascii(end) && is_ascii(end + 1)) ++end;
            out.append(text.substr(at, end - at));
            at = end;
            if (at == text.size()) break;
        }
        const Utf8Step step = utf8_at(text, at);
        if (step.kind == Utf8Step::Kind::character) {
            stretch.add(step.code_point);
        } else {
            stretch.flush(out);
            out.append(text.substr(at, step.length));
        }
        at += step.length;
    }
    stretch.flush(out);
    return out;
}

}  // namespace decodescope
