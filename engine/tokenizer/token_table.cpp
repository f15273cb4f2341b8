// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/tokenizer/token_table.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace decodescope {

TokenTable::Added TokenTable::add_hidden(std::int32_t id, std::string_view text) {
    if (id < 0 || static_cast<std::size_t>(id) >= max_token_ids) return Added::bad_id;
    if (has(id)) return Added::id_taken;
    if (id >= n_token()) places_.resize(static_cast<std::size_t>(id) + 1);
    places_[static_cast<std::size_t>(id)] = {bytes_.size(), text.size()};
    bytes_.append(text);
    ++n_text_;
    return Added::ok;
}

TokenTable::Added TokenTable::add(std::int32_t id, std::string_view text) {
    if (const Added added = add_hidden(id, text); added != Added::ok) return added;
    if (2 * (n_slot_used_ + 1) > slots_.size()) grow();
    std::int32_t& slot = slots_[slot_of(text)];
    if (slot >= 0) return Added::text_taken;
    slot = id;
    ++n_slot_used_;
    return Added::ok;
}

std::int32_t TokenTable::find(std::string_view text) const {
    return slots_.empty() ? -1 : slots_[slot_of(text)];
}

bool TokenTable::has(std::int32_t id) const {
    return id >= 0 && id < n_token() && places_[static_cast<std::size_t>(id)].length != no_text;
}

std::string_view TokenTable::text(std::int32_t id) const {
    if (!has(id)) return {};
    const Place& place = places_[static_cast<std::size_t>(id)];
    return std::string_view(bytes_).substr(place.offset, place.length);
}

std::size_t TokenTable::slot_of(std::string_view text) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = std::hash<std::string_view>()(text) & mask;
    while (slots_[slot] >= 0 && this->text(slots_[slot]) != text) slot = (slot + 1) & mask;
    return slot;
}

void TokenTable::grow() {
    const std::vector<std::int32_t> old =
        std::exchange(slots_, std::vector<std::int32_t>(std::max<std::size_t>(64, 2 * slots_.size()), -1));
    for (const std::int32_t id : old) {
        if (id >= 0) slots_[slot_of(text(id))] = id;
    }
}

void MergeList::add(std::string_view left, std::string_view right) {
    places_.push_back({bytes_.size(), left.size()});
    bytes_.append(left).append(right);
}

std::string_view MergeList::both(std::size_t i) const {
    const std::size_t end = i + 1 < places_.size() ? places_[i + 1].offset : bytes_.size();
    return std::string_view(bytes_).substr(places_[i].offset, end - places_[i].offset);
}

std::string_view MergeList::left(std::size_t i) const {
    return both(i).substr(0, places_[i].left_length);
}

std::string_view MergeList::right(std::size_t i) const {
    return both(i).substr(places_[i].left_length);
}

}  // namespace decodescope
