// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/examples.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

#include "engine/formats/model_source.h"
#include "ui/text.h"

namespace decodescope {

QVector<Example> bundledExamples() {
    QVector<Example> examples;
    const Result<std::filesystem::path> folder = bundled_file("experiments");
    if (!folder) return examples;
    const QDir dir(QString::fromStdString(folder->string()));
    for (const QFileInfo& info : dir.entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        QFile file(info.filePath());
        if (!file.open(QIODevice::ReadOnly)) continue;
        const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
        if (!document.isObject()) continue;
        const QJsonObject object = document.object();
        const QString title = object.value(QLatin1String("_title")).toString();
        examples.append({info.filePath(), title.isEmpty() ? info.completeBaseName() : bundledText(title),
                         bundledText(object.value(QLatin1String("_about")).toString())});
    }
    std::stable_partition(examples.begin(), examples.end(), [](const Example& example) {
        return QFileInfo(example.path).completeBaseName() == QLatin1String("demo");
    });
    return examples;
}

}  // namespace decodescope
