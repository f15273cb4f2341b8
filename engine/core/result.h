// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace decodescope {

/// Why an operation did not produce its value. Each kind is an ordinary outcome with its own exit code (see
/// `exit_code`).
enum class ErrorKind {
    bad_input,      ///< arguments or a file that cannot be accepted as they are
    unsupported,    ///< well-formed, but asks for something this program does not do
    io,             ///< a file or directory could not be read or written
    capacity,       ///< a cache, a position table or a model limit would be exceeded
    out_of_memory,  ///< an allocation was refused by the system or by the set limit
    non_finite,     ///< NaN or infinity where finite numbers are required
    cancelled,      ///< stopped on request
    device,         ///< a GPU is not there, cannot be used, or failed
    internal,       ///< a broken invariant of this program: always a bug
};

/// One failure: what kind it is, and one sentence that names the place and what was expected.
struct Error {
    ErrorKind kind = ErrorKind::internal;
    std::string message;
};

/// Stable lower-case name of a kind, as written in records ("bad_input", "capacity", ...).
const char* to_string(ErrorKind kind);

/// Process exit code of a failure: 2 bad arguments or unreadable input, 3 could not run, 130 interrupted.
int exit_code(ErrorKind kind);

/// Either a value or an `Error`. Functions that can fail return it; nothing in the engine throws across its
/// border.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    /// True when a value is held.
    explicit operator bool() const { return state_.index() == 0; }
    bool ok() const { return state_.index() == 0; }

    T& value() & {
        assert(ok());
        return std::get<0>(state_);
    }
    const T& value() const& {
        assert(ok());
        return std::get<0>(state_);
    }
    T&& value() && {
        assert(ok());
        return std::get<0>(std::move(state_));
    }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const Error& error() const {
        assert(!ok());
        return std::get<1>(state_);
    }

private:
    std::variant<T, Error> state_;
};

/// Success without a value, or an `Error`.
template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), ok_(false) {}

    explicit operator bool() const { return ok_; }
    bool ok() const { return ok_; }
    const Error& error() const {
        assert(!ok_);
        return error_;
    }

private:
    Error error_;
    bool ok_ = true;
};

}  // namespace decodescope

/// Returns the error of a `Result` expression from the enclosing function; goes on when it succeeded.
#define DS_TRY(expression)                                                                   \
    do {                                                                                     \
        if (auto ds_try_result = (expression); !ds_try_result) return ds_try_result.error(); \
    } while (false)
