// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plan/plan_form.h"

#include <QComboBox>
#include <QDir>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include <algorithm>

#include "engine/experiment/experiment.h"
#include "engine/plan/known_models.h"
#include "ui/chart/format.h"
#include "ui/experiment_panel/form_fields.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

constexpr int gridColumns = 6;

}  // namespace

PlanForm::PlanForm(QWidget* parent) : Card(parent) {
    const CardMetrics metrics(font());
    m_model =
        comboBox(this, "planModel", tr("Model"),
                 tr("The loaded model, a published configuration, or a file: what the memory is planned "
                    "for. Nothing of it is loaded"));
    auto* open = new QPushButton(tr("Open…"), this);
    open->setObjectName(QStringLiteral("planOpen"));
    open->setAccessibleName(tr("Open a configuration"));
    open->setToolTip(tr("Read a config.json or the header of a GGUF file"));
    m_context = spinBox(this, "planContext", tr("Context"),
                        tr("Tokens of each request that are stored in the end"), 1, largestCount);
    m_batch = spinBox(this, "planBatch", tr("Requests"), tr("Requests side by side (batch)"), 1, 65536);
    m_tokens = spinBox(this, "planTokens", tr("New tokens"),
                       tr("Made by decoding; the rest of the context is prompt"), 1, largestCount);
    m_cache =
        comboBox(this, "planCache", tr("Cache"),
                 tr("How keys and values are kept. concat: copied on every append; static: allocated at "
                    "once; paged: in blocks; window: the newest only; int8, kivi: quantised"));
    for (const char* word : {"static", "concat", "paged", "window", "int8", "kivi4", "kivi2"})
        m_cache->addItem(QLatin1String(word), QLatin1String(word));
    m_type = comboBox(this, "planType", tr("Entries"), tr("Type of the keys and values in the cache"));
    m_type->addItem(tr("as usual"), QString());
    for (const char* type : {"f32", "f16", "bf16"}) m_type->addItem(QLatin1String(type), QLatin1String(type));
    m_weights = comboBox(this, "planWeights", tr("Weights"),
                         tr("Type of the weights. As usual: as this program holds them where it can run the "
                            "model, else the file's own"));
    m_weights->addItem(tr("as usual"), QString());
    m_weights->addItem(tr("this program's (f32)"), QStringLiteral("engine"));
    for (const char* type : {"f32", "f16", "bf16", "Q8_0", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "Q3_K", "Q2_K"})
        m_weights->addItem(QLatin1String(type), QLatin1String(type));
    m_memory =
        lineEdit(this, "planMemory", tr("Memory"),
                 tr("Bytes there are for everything: 16G is 1024-based, 24GB 1000-based. Empty: what is "
                    "available here now"));
    m_reserve = lineEdit(this, "planReserve", tr("Reserve"), tr("Part of the memory that is not to be used"),
                         QStringLiteral("0"));
    m_chunk = spinBox(this, "planChunk", tr("Prompt per call"),
                      tr("Prompt tokens per forward call; fewer need less work memory"), 0, largestCount);
    m_chunk->setSpecialValueText(tr("all at once"));
    m_parameters = lineEdit(this, "planParameters", tr("Parameters"),
                            tr("How many parameters the model has: its configuration does not tell"),
                            tr("not told: type a number"));

    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(metrics.padding);
    grid->setVerticalSpacing(metrics.padding / 4);
    for (int column = 0; column < gridColumns; ++column) grid->setColumnStretch(column, 1);
    auto* model = new QWidget(this);
    auto* row = new QHBoxLayout(model);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(metrics.padding / 2);
    row->addWidget(m_model, 1);
    row->addWidget(open);
    addField(grid, 0, 0, 3, tr("Model"), model);
    addField(grid, 0, 3, 1, tr("Context"), m_context);
    addField(grid, 0, 4, 1, tr("Requests"), m_batch);
    addField(grid, 0, 5, 1, tr("New tokens"), m_tokens);
    addField(grid, 1, 0, 1, tr("Cache"), m_cache);
    addField(grid, 1, 1, 1, tr("Entries"), m_type);
    addField(grid, 1, 2, 1, tr("Weights"), m_weights);
    addField(grid, 1, 3, 1, tr("Memory"), m_memory);
    addField(grid, 1, 4, 1, tr("Reserve"), m_reserve);
    addField(grid, 1, 5, 1, tr("Prompt per call"), m_chunk);
    addField(grid, 2, 0, 2, tr("Parameters"), m_parameters);
    m_parametersLabel = grid->itemAtPosition(6, 0)->widget();
    m_parameters->hide();
    m_parametersLabel->hide();
    content()->addLayout(grid);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);

    connect(open, &QPushButton::clicked, this, &PlanForm::browseRequested);
    connect(m_model, &QComboBox::activated, this, [this] { m_chosen = true; });
    connect(m_model, &QComboBox::currentIndexChanged, this, &PlanForm::modelChanged);
    connect(m_cache, &QComboBox::currentIndexChanged, this, &PlanForm::cacheChanged);
    for (QComboBox* box : {m_type, m_weights})
        connect(box, &QComboBox::currentIndexChanged, this, &PlanForm::edited);
    for (QSpinBox* box : {m_context, m_batch, m_tokens, m_chunk})
        connect(box, &QSpinBox::valueChanged, this, &PlanForm::edited);
    for (QLineEdit* edit : {m_memory, m_reserve, m_parameters})
        connect(edit, &QLineEdit::editingFinished, this, &PlanForm::edited);
}

// A muted name above the field.
void PlanForm::addField(QGridLayout* grid, int row, int column, int span, const QString& name,
                        QWidget* field) {
    QLabel* label = mutedLabel(name, this);
    label->setToolTip(field->toolTip());
    label->setBuddy(field);
    if (row > 0) grid->setRowMinimumHeight(3 * row - 1, CardMetrics(font()).padding / 3);
    grid->addWidget(label, 3 * row, column, 1, span);
    grid->addWidget(field, 3 * row + 1, column, 1, span);
}

Result<void> PlanForm::loadKnownModels() {
    const auto models = load_known_models();
    if (!models) return models.error();
    const QSignalBlocker blocker(m_model);
    for (const KnownModel& model : *models) {
        m_model->addItem(QString::fromStdString(model.title),
                         QStringLiteral("known:") + QString::fromStdString(model.name));
        m_model->setItemData(m_model->count() - 1, QString::fromStdString(model.source), Qt::ToolTipRole);
    }
    return {};
}

void PlanForm::setLoadedModel(const QString& title, const QString& text) {
    constexpr auto loadedRole = Qt::UserRole + 1;
    const QString before = modelText();
    {
        const QSignalBlocker blocker(m_model);
        if (m_model->count() > 0 && m_model->itemData(0, loadedRole).toBool()) m_model->removeItem(0);
        m_model->insertItem(0, tr("%1 (loaded)").arg(title), text);
        m_model->setItemData(0, true, loadedRole);
        if (!m_chosen || m_model->currentIndex() < 0) m_model->setCurrentIndex(0);
    }
    if (modelText() != before) emit modelChanged();
}

void PlanForm::openFile(const QString& path) {
    m_chosen = true;
    const QFileInfo info(path);
    int index = m_model->findData(info.absoluteFilePath());
    {
        const QSignalBlocker blocker(m_model);
        if (index < 0) {
            const bool config = info.fileName() == QLatin1String("config.json");
            m_model->addItem(
                config ? info.absoluteDir().dirName() + QStringLiteral("/config.json") : info.fileName(),
                info.absoluteFilePath());
            index = m_model->count() - 1;
            m_model->setItemData(index, QDir::toNativeSeparators(info.absoluteFilePath()), Qt::ToolTipRole);
        }
        m_model->setCurrentIndex(index);
    }
    emit modelChanged();
}

QString PlanForm::modelText() const {
    return m_model->currentData().toString();
}

PlanChoices PlanForm::choices() const {
    PlanChoices choices;
    choices.context = m_context->value();
    choices.batch = m_batch->value();
    choices.tokens = m_tokens->value();
    choices.cache = m_cache->currentData().toString().toStdString();
    if (m_type->isEnabled()) choices.kv_type = m_type->currentData().toString().toStdString();
    choices.weights_type = m_weights->currentData().toString().toStdString();
    choices.memory = m_memory->text().trimmed().toStdString();
    if (const QString reserve = m_reserve->text().trimmed(); !reserve.isEmpty())
        choices.reserve = reserve.toStdString();
    choices.chunk = m_chunk->value();
    return choices;
}

std::int64_t PlanForm::parameters() const {
    QString text = m_parameters->isVisibleTo(this) ? m_parameters->text() : QString();
    text.remove(QLatin1Char(',')).remove(QLatin1Char(' '));
    return text.toLongLong();
}

void PlanForm::setShape(const PlanShape& shape, const PlanRequest& usual) {
    const QSignalBlocker context(m_context);
    const QSignalBlocker tokens(m_tokens);
    const QSignalBlocker parameters(m_parameters);
    m_context->setMaximum(shape.n_positions > 0 ? std::min(shape.n_positions, largestCount) : largestCount);
    m_context->setValue(static_cast<int>(usual.context));
    m_tokens->setValue(static_cast<int>(usual.new_tokens));
    const bool ask = !shape.tensors_known && shape.file_tensor_bytes == 0;
    m_parameters->setVisible(ask);
    m_parametersLabel->setVisible(ask);
    m_parameters->clear();
}

void PlanForm::setLoad(int batch, std::int64_t context) {
    {
        const QSignalBlocker batchBlocker(m_batch);
        const QSignalBlocker contextBlocker(m_context);
        m_batch->setValue(batch);
        m_context->setValue(static_cast<int>(context));
    }
    emit edited();
}

void PlanForm::setAvailable(std::int64_t bytes) {
    m_memory->setPlaceholderText(bytes > 0 ? tr("%1 free here").arg(formatBytes(static_cast<double>(bytes)))
                                           : tr("not known"));
}

void PlanForm::cacheChanged() {
    const auto lane = lane_from_name(m_cache->currentData().toString().toStdString());
    m_type->setEnabled(lane && has_dtype(lane->cache.kind));
    emit edited();
}

}  // namespace decodescope
