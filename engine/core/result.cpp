// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/result.h"

namespace decodescope {

const char* to_string(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::bad_input: return "bad_input";
        case ErrorKind::unsupported: return "unsupported";
        case ErrorKind::io: return "io";
        case ErrorKind::capacity: return "capacity";
        case ErrorKind::out_of_memory: return "out_of_memory";
        case ErrorKind::non_finite: return "non_finite";
        case ErrorKind::cancelled: return "cancelled";
        case ErrorKind::device: return "device";
        case ErrorKind::internal: return "internal";
    }
    return "internal";
}

int exit_code(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::bad_input:
        case ErrorKind::unsupported:
        case ErrorKind::io: return 2;
        case ErrorKind::cancelled: return 130;
        case ErrorKind::capacity:
        case ErrorKind::out_of_memory:
        case ErrorKind::non_finite:
        case ErrorKind::device:
        case ErrorKind::internal: return 3;
    }
    return 3;
}

}  // namespace decodescope
