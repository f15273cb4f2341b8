// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/device_box.h"

#include <QComboBox>
#include <QSignalBlocker>

#include "ui/chart/format.h"
#include "ui/text.h"

namespace decodescope {

namespace {

QString nameOf(const std::optional<Device>& device) {
    return device ? QString::fromStdString(device->name()) : QString();
}

}  // namespace

QString deviceTitle(const Device& device, const CudaDevices& found) {
    if (!device.is_gpu()) return tr("CPU");
    for (const CudaDevice& gpu : found.devices) {
        if (gpu.index == device.index)
            return nameOf(device) + QStringLiteral(" · ") + QString::fromStdString(gpu.name);
    }
    return nameOf(device);
}

void fillDevices(QComboBox* box, const CudaDevices& found, bool ofLane) {
    const QSignalBlocker blocker(box);
    const auto chosen = box->count() > 0 ? chosenDevice(box) : std::nullopt;
    const bool any = box->count() > 0;
    box->clear();
    const auto add = [box](const QString& text, const QString& name, const QString& toolTip) {
        box->addItem(text, name);
        box->setItemData(box->count() - 1, toolTip, Qt::ToolTipRole);
    };
    if (ofLane) add(tr("as the experiment"), QString(), tr("The device that the experiment names"));
    add(tr("CPU"), nameOf(Device{}), tr("This machine's processor"));
    for (const CudaDevice& gpu : found.devices) {
        const Device device{Device::Kind::cuda, gpu.index};
        const QString title = deviceTitle(device, found);
        add(gpu.free_bytes == 0
                ? title
                : tr("%1 · %2 free").arg(title, formatBytes(static_cast<double>(gpu.free_bytes))),
            nameOf(device),
            tr("Compute capability %1.%2, %3 of memory, driver for CUDA %4, runtime %5")
                .arg(QString::number(gpu.compute_major), QString::number(gpu.compute_minor),
                     formatBytes(static_cast<double>(gpu.memory_bytes)), QString::fromStdString(found.driver),
                     QString::fromStdString(found.runtime)));
    }
    QString toolTip =
        ofLane ? tr("Where this lane computes") : tr("Where lanes compute that do not say otherwise");
    if (found.devices.empty()) toolTip += QLatin1Char('\n') + QString::fromStdString(cpu_only(found));
    box->setToolTip(toolTip);
    if (any) chooseDevice(box, chosen);
}

void chooseDevice(QComboBox* box, std::optional<Device> device) {
    const QString name = nameOf(device);
    int row = box->findData(name);
    if (row < 0 && device) {
        box->addItem(tr("%1 · not here").arg(name), name);
        row = box->count() - 1;
    }
    box->setCurrentIndex(row);
}

std::optional<Device> chosenDevice(const QComboBox* box) {
    const auto device = parse_device(box->currentData().toString().toStdString());
    return device ? std::optional(*device) : std::nullopt;
}

}  // namespace decodescope
