// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace decodescope {

/// How long a device worked on some forward calls, by its own clock. Known when that of every call is.
class DeviceTime {
public:
    /// One more call, as `Backend::device_seconds` tells after it.
    void add(std::optional<double> seconds) {
        known_ = seconds.has_value() && (n_call_ == 0 || known_);
        ++n_call_;
        if (known_) ns_ += std::llround(*seconds * 1e9);
    }
    /// The calls of `other`, which are further ones.
    void add(const DeviceTime& other) {
        if (other.n_call_ == 0) return;
        known_ = other.known_ && (n_call_ == 0 || known_);
        n_call_ += other.n_call_;
        ns_ += other.ns_;
    }
    /// -1 where it is not known, or there was no call.
    std::int64_t ns() const { return known_ ? ns_ : -1; }

private:
    std::int64_t ns_ = 0;
    int n_call_ = 0;
    bool known_ = false;
};

}  // namespace decodescope
