// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Ranges are counted, see `cuda_shim::counts`.
int nvtxRangePushA(const char* name);
int nvtxRangePop();
