// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/model_card.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

#include <cstdint>

#include "engine/model/preset.h"
#include "ui/chart/format.h"
#include "ui/widgets/labels.h"

namespace decodescope {

QString roundCount(std::int64_t count) {
    const double value = static_cast<double>(count);
    if (value < 1e4) return formatCount(count);
    if (value < 999.5e3) return formatNumber(value / 1e3, 2) + QStringLiteral(" k");
    if (value < 999.5e6) return formatNumber(value / 1e6, value < 1e8 ? 2 : 3) + QStringLiteral(" M");
    return formatNumber(value / 1e9, 2) + QStringLiteral(" G");
}

QString modelTitle(const ModelRef& ref) {
    if (!ref.preset.empty())
        return ModelCard::tr("%1, random weights").arg(QString::fromStdString(ref.preset));
    const QString path = QDir::cleanPath(QString::fromStdString(ref.path));
    const QString name = QFileInfo(path).fileName();
    return name.isEmpty() ? path : name;
}

ModelCard::ModelCard(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    m_name = new QLabel(this);
    m_name->setObjectName(QStringLiteral("modelName"));
    m_name->setFont(metrics.title);
    m_name->setTextFormat(Qt::PlainText);
    m_choose = new QToolButton(this);
    m_choose->setObjectName(QStringLiteral("modelChoose"));
    m_choose->setAutoRaise(true);
    m_choose->setText(QStringLiteral("▾"));
    m_choose->setAccessibleName(tr("Choose a model"));
    m_choose->setToolTip(tr("Choose a model"));
    m_menu = new QMenu(this);
    connect(m_choose, &QToolButton::clicked, this, [this] {
        fillMenu();
        m_menu->popup(m_choose->mapToGlobal(m_choose->rect().bottomLeft()));
    });

    auto* head = new QHBoxLayout;
    head->addWidget(m_name, 1);
    head->addWidget(m_choose);
    m_details = mutedLabel({}, this);
    m_details->setObjectName(QStringLiteral("modelDetails"));
    m_details->setWordWrap(true);
    // Room for two lines from the start, so that the panel does not move when the facts arrive.
    m_details->setMinimumHeight(2 * m_details->fontMetrics().lineSpacing());
    m_details->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_details->setTextInteractionFlags(Qt::TextSelectableByMouse);
    content()->setSpacing(0);
    content()->addLayout(head);
    content()->addWidget(m_details);
    setAccessibleName(tr("Model"));
}

void ModelCard::setRef(const ModelRef& ref) {
    m_ref = ref;
    m_name->setText(modelTitle(ref));
    m_name->setToolTip(QDir::toNativeSeparators(QString::fromStdString(ref.path)));
}

void ModelCard::setConfig(const ModelConfig& config) {
    const QString family = config.family == Family::gpt2 ? tr("GPT-2 family") : tr("Llama family");
    const QString stored = QString::fromStdString(config.stored_as).toUpper();
    m_details->setText(QStringList{family, roundCount(config.n_parameter()),
                                   tr("%1 layers").arg(config.n_layer), tr("%1 heads").arg(config.n_head)}
                           .join(QStringLiteral(" · ")) +
                       QLatin1Char('\n') +
                       tr("%1 · KV %2 per token (f32)")
                           .arg(stored, formatBytesExactly(config.kv_bytes_per_token(DType::f32))));
    m_details->setToolTip(tr("%1 parameters, stored as %2, computed in f32\nwidth %3, feed-forward %4, "
                             "vocabulary %5, context %6\n"
                             "KV bytes per token = 2 × %7 layers × %8 KV heads × %9 head_dim × 4 B")
                              .arg(formatCount(config.n_parameter()), stored, formatCount(config.d_model),
                                   formatCount(config.d_ff), formatCount(config.vocab),
                                   formatCount(config.n_positions))
                              .arg(config.n_layer)
                              .arg(config.n_kv_head)
                              .arg(config.head_dim));
}

void ModelCard::setStatus(const QString& sentence) {
    m_details->setText(sentence);
    m_details->setToolTip({});
}

void ModelCard::fillMenu() {
    QMenu* menu = m_menu;
    menu->clear();
    const auto offer = [this](QMenu* target, const QString& text, const ModelRef& ref) {
        connect(target->addAction(text), &QAction::triggered, this, [this, ref] { emit chosen(ref); });
    };
    offer(menu, tr("Demo (bundled)"), {.path = "demo", .preset = {}, .seed = 0});
    connect(menu->addAction(tr("Open Folder…")), &QAction::triggered, this, &ModelCard::browseRequested);
    connect(menu->addAction(tr("Open GGUF File…")), &QAction::triggered, this,
            &ModelCard::browseFileRequested);
    connect(menu->addAction(tr("Get a Small Real Model…")), &QAction::triggered, this,
            &ModelCard::fetchRequested);
    QMenu* presets = menu->addMenu(tr("Random Weights"));
    presets->setToolTip(tr("Known shapes filled with random numbers: right for timing, not for text"));
    for (const std::string_view name : preset_names())
        offer(presets, QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size())),
              {.path = {}, .preset = std::string(name), .seed = 0});
    if (m_recent.isEmpty()) return;
    menu->addSection(tr("Recent"));
    for (const QString& folder : m_recent)
        offer(menu, QDir::toNativeSeparators(folder),
              {.path = folder.toStdString(), .preset = {}, .seed = 0});
}

}  // namespace decodescope
