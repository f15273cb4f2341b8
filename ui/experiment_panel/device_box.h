// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>

#include "engine/backend/cuda/cuda_backend.h"
#include "engine/backend/device.h"

class QComboBox;

namespace decodescope {

// The list of devices, as the experiment and its lanes offer it: the CPU, and every GPU that was found with
// its free memory.

/// Fills `box`; a lane's list begins with "as the experiment", which is no device of its own. What was chosen
/// stays chosen. Without a GPU the tooltip says why.
void fillDevices(QComboBox* box, const CudaDevices& found, bool ofLane);
/// Chooses a device. One that is not in the list is added to it, marked as not being there.
void chooseDevice(QComboBox* box, std::optional<Device> device);
std::optional<Device> chosenDevice(const QComboBox* box);

/// "cuda:0 · NVIDIA H200".
QString deviceTitle(const Device& device, const CudaDevices& found);

}  // namespace decodescope
