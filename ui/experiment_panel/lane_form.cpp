// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/experiment_panel/lane_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpression>
#include <QRegularExpressionValidator>
#include <QSignalBlocker>
#include <QSpinBox>

#include "engine/experiment/events.h"
#include "engine/experiment/experiment.h"
#include "engine/formats/model_source.h"
#include "ui/chart/format.h"
#include "ui/experiment_panel/device_box.h"
#include "ui/experiment_panel/form_fields.h"
#include "ui/experiment_panel/lane_kinds.h"
#include "ui/text.h"
#include "ui/widgets/labels.h"

namespace decodescope {

namespace {

constexpr int groupStep = 8;

template <class Value>
void addItem(QComboBox* box, const QString& text, Value value, const QString& toolTip = {}) {
    box->addItem(text, static_cast<int>(value));
    box->setItemData(box->count() - 1, toolTip, Qt::ToolTipRole);
}

template <class Value>
void choose(QComboBox* box, Value value) {
    box->setCurrentIndex(box->findData(static_cast<int>(value)));
}

template <class Value>
Value chosen(const QComboBox* box, Value otherwise) {
    return box->currentIndex() < 0 ? otherwise : static_cast<Value>(box->currentData().toInt());
}

QString cacheName(CacheKind kind) {
    return kind == CacheKind::static_ ? QStringLiteral("static") : engineWord(to_string(kind));
}

}  // namespace

LaneForm::LaneForm(QWidget* parent) : QWidget(parent), m_rows(plainForm(this)) {
    buildDevice();
    buildWeights();
    buildCache();
    buildRequests();
    buildDrafts();
    buildRest();
    for (QSpinBox* box : findChildren<QSpinBox*>())
        connect(box, &QSpinBox::valueChanged, this, &LaneForm::read);
    for (QComboBox* box : findChildren<QComboBox*>())
        connect(box, &QComboBox::currentIndexChanged, this, &LaneForm::read);
    for (QLineEdit* edit : {m_prefill, m_draftModel})
        connect(edit, &QLineEdit::textEdited, this, &LaneForm::read);
    for (QCheckBox* box : {m_share, m_graph, m_tf32})
        connect(box, &QCheckBox::toggled, this, &LaneForm::read);
}

void LaneForm::buildDevice() {
    m_device = comboBox(this, "laneDevice", tr("Device of the lane"), QString());
    fillDevices(m_device, m_devices, true);
    m_rows->addRow(tr("Device"), m_device);
    m_graph = new QCheckBox(tr("CUDA graph"), this);
    m_graph->setObjectName(QStringLiteral("laneGraph"));
    m_graph->setToolTip(
        tr("Capture the launches of a decode step once and replay them, so that a step costs one "
           "launch"));
    m_rows->addRow(m_graph);
    m_whyNoGraph = mutedLabel({}, this);
    m_whyNoGraph->setObjectName(QStringLiteral("laneWhyNoGraph"));
    m_whyNoGraph->setWordWrap(true);
    m_rows->addRow(m_whyNoGraph);
    m_tf32 = new QCheckBox(tr("Products in TF32"), this);
    m_tf32->setObjectName(QStringLiteral("laneTf32"));
    m_tf32->setToolTip(
        tr("Tensor cores multiply by f32 weights, with 10 bits of each number's fraction instead of 23: "
           "faster, and logits may differ by up to %1 of their deviation")
            .arg(formatError(error_limit(ProductRounding{.gpu = true, .tf32 = true}))));
    m_rows->addRow(m_tf32);
}

void LaneForm::setDevices(const CudaDevices& found, const Device& ofExperiment) {
    m_filling = true;
    m_devices = found;
    m_deviceOfExperiment = ofExperiment;
    fillDevices(m_device, found, true);
    m_filling = false;
    updateRows();
}

void LaneForm::buildWeights() {
    m_weights = comboBox(this, "laneWeights", tr("Type of the weights"),
                         tr("What the matrices are computed with; embeddings, norms and biases stay f32"));
    addItem(m_weights, engineWord(to_string(WeightType::f32)), WeightType::f32,
            tr("4 bytes per weight, nothing is rounded"));
    addItem(m_weights, engineWord(to_string(WeightType::f16)), WeightType::f16,
            tr("2 bytes per weight: 11 bits of precision, values up to 65504"));
    addItem(
        m_weights, engineWord(to_string(WeightType::bf16)), WeightType::bf16,
        tr("2 bytes per weight: 8 bits of precision, the range of f32. Processors with bf16 products round "
           "what is multiplied by them to bf16 too"));
    addItem(m_weights, engineWord(to_string(WeightType::int8)), WeightType::int8,
            tr("1.06 bytes per weight: whole numbers up to 127 and one scale per 32. Where the processor has "
               "integer dot products, what is multiplied by them is rounded the same way"));
    addItem(
        m_weights, engineWord(to_string(WeightType::int4)), WeightType::int4,
        tr("0.56 bytes per weight: whole numbers from -8 to 7 and one scale per 32. Where the processor has "
           "integer dot products, what is multiplied by them is rounded to 8 bits"));
    m_rows->addRow(tr("Weights"), m_weights);
    m_kernels = comboBox(this, "laneKernels", tr("Who multiplies by the weights"),
                         tr("Products with the model's matrices: by this program's kernels or by OpenBLAS"));
    addItem(m_kernels, tr("packed kernels"), Kernels::packed,
            tr("Kernels of this program on weights packed for them, a copy beside the model's own"));
    addItem(m_kernels, QStringLiteral("OpenBLAS"), Kernels::openblas,
            tr("The reference library on the f32 weights where they lie: no copy, no other type"));
    m_rows->addRow(tr("Products"), m_kernels);
}

void LaneForm::buildCache() {
    m_cache =
        comboBox(this, "laneCache", tr("Kind of cache"),
                 tr("How keys and values are stored; exact: static, concat, paged. Smaller: int8, kivi. "
                    "window forgets what it will not show again"));
    m_rows->addRow(tr("Cache"), m_cache);
    m_dtype = comboBox(this, "laneDtype", tr("Entries of the cache"),
                       tr("Number type of stored keys and values: f32 has 4 bytes, f16 and bf16 have 2"));
    for (const DType type : {DType::f32, DType::f16, DType::bf16})
        addItem(m_dtype, QString::fromLatin1(to_string(type)), type);
    m_rows->addRow(tr("Entries"), m_dtype);
    m_bits = comboBox(this, "laneBits", tr("Bits per entry"), tr("Bits of one stored number"));
    addItem(m_bits, QStringLiteral("4"), 4);
    addItem(m_bits, QStringLiteral("2"), 2);
    m_rows->addRow(tr("Bits"), m_bits);
    m_group = spinBox(this, "laneGroup", tr("Group size"),
                      tr("Tokens of a key group and channels of a value group that share a scale: a multiple "
                         "of 8"),
                      0, largestCount);
    m_group->setSingleStep(groupStep);
    m_rows->addRow(tr("Group"), m_group);
    m_residual = spinBox(this, "laneResidual", tr("Tokens in full precision"),
                         tr("At least this many newest tokens stay in f32; as many as there are = exact"), 0,
                         largestCount);
    m_rows->addRow(tr("Newest in f32"), m_residual);
    m_capacity = spinBox(this, "laneCapacity", tr("Cache capacity in tokens"),
                         tr("Tokens that one request can store; as needed = prompt and new tokens, less one"),
                         0, largestCount);
    m_capacity->setSpecialValueText(tr("as needed"));
    m_rows->addRow(tr("Capacity"), m_capacity);
    m_block = spinBox(this, "laneBlock", tr("Tokens per block"),
                      tr("Tokens that one block of the pool holds"), 0, largestCount);
    m_rows->addRow(tr("Block"), m_block);
    m_blocks =
        spinBox(this, "laneBlocks", tr("Blocks of the pool"),
                tr("Blocks that all requests share; as needed = enough for every row"), 0, largestCount);
    m_blocks->setSpecialValueText(tr("as needed"));
    m_rows->addRow(tr("Blocks"), m_blocks);
    m_share = new QCheckBox(tr("Share equal prefixes"), this);
    m_share->setObjectName(QStringLiteral("laneShare"));
    m_share->setToolTip(tr("Requests of one isolation group whose prompts begin alike use the same blocks"));
    m_rows->addRow(m_share);
    m_window = spinBox(this, "laneWindow", tr("Window in tokens"),
                       tr("A token sees itself and the tokens before it, this many together; none = all of "
                          "them"),
                       0, largestCount);
    m_window->setSpecialValueText(tr("none"));
    m_rows->addRow(tr("Window"), m_window);
    m_sinks = spinBox(this, "laneSinks", tr("Sinks"),
                      tr("First tokens that stay visible for ever, besides the window"), 0, largestCount);
    m_rows->addRow(tr("Sinks"), m_sinks);
}

void LaneForm::buildRequests() {
    m_padding = comboBox(this, "lanePadding", tr("Padding"),
                         tr("How rows of different lengths are made a rectangle"));
    addItem(m_padding, tr("in front"), Padding::left);
    addItem(m_padding, tr("behind"), Padding::right);
    addItem(m_padding, tr("none"), Padding::none, tr("Each row is given its own tokens only"));
    m_rows->addRow(tr("Pads"), m_padding);
    m_maxRows = spinBox(this, "laneMaxRows", tr("Most rows at a time"),
                        tr("Requests that are served together; all = as many as there are"), 0, largestCount);
    m_maxRows->setSpecialValueText(tr("all"));
    m_rows->addRow(tr("Rows"), m_maxRows);
    m_budget = spinBox(this, "laneBudget", tr("KV budget in tokens"),
                       tr("Tokens that the served requests may store together; a request waits until its "
                          "whole answer fits"),
                       0, largestCount);
    m_budget->setSpecialValueText(tr("no limit"));
    m_rows->addRow(tr("KV budget"), m_budget);
}

void LaneForm::buildDrafts() {
    m_draftTokens =
        spinBox(this, "laneDraftTokens", tr("Drafts per check"),
                tr("Most tokens that are guessed before the model checks them in one call"), 0, largestCount);
    m_rows->addRow(tr("Drafts"), m_draftTokens);
    m_draftNgram = spinBox(this, "laneDraftNgram", tr("Equal tokens"),
                           tr("Tokens that must be the same as earlier in the text, so that what followed "
                              "them is guessed"),
                           0, largestCount);
    m_rows->addRow(tr("After equal"), m_draftNgram);
    m_draftLayers = spinBox(this, "laneDraftLayers", tr("Draft layers"),
                            tr("The model's first layers that guess; fewer than it has"), 0, largestCount);
    m_rows->addRow(tr("Layers"), m_draftLayers);
    m_draftModel = lineEdit(this, "laneDraftModel", tr("Draft model"),
                            tr("Folder, GGUF file or bundled name of a model with the same vocabulary, or "
                               "preset:NAME,seed=N"),
                            tr("folder or name"));
    m_rows->addRow(tr("Draft model"), m_draftModel);
    m_acceptance = comboBox(this, "laneAcceptance", tr("When drafts are kept"), tr("Which guesses are kept"));
    addItem(m_acceptance, tr("if equal"), Acceptance::match,
            tr("A draft is kept when plain decoding would have chosen it: the text stays the same"));
    addItem(m_acceptance, tr("by rejection"), Acceptance::rejection,
            tr("Exact rejection sampling: the distribution stays the same, the draws do not. Needs sampling "
               "and free drive"));
    m_rows->addRow(tr("Keep"), m_acceptance);
    m_beams =
        spinBox(this, "laneBeams", tr("Beams"),
                tr("Continuations that are followed side by side. Needs greedy sampling and free drive"), 0,
                largestCount);
    m_rows->addRow(tr("Beams"), m_beams);
}

void LaneForm::buildRest() {
    m_prefill = lineEdit(this, "lanePrefill", tr("Prefill chunks"),
                         tr("Tokens per prefill call, such as 16, or every chunk's size, such as 4, 3, 2"),
                         tr("whole prompt"));
    m_prefill->setValidator(new QRegularExpressionValidator(
        QRegularExpression(QStringLiteral("[0-9]{0,7}( *, *[0-9]{0,7})*")), m_prefill));
    m_rows->addRow(tr("Prefill by"), m_prefill);
    m_allocation = comboBox(this, "laneAllocation", tr("Work buffers"),
                            tr("Keep work buffers for the whole run, or allocate them for every use"));
    addItem(m_allocation, tr("reused"), AllocationPolicy::reused);
    addItem(m_allocation, tr("fresh every step"), AllocationPolicy::fresh);
    m_rows->addRow(tr("Buffers"), m_allocation);
}

void LaneForm::setLane(const LaneSpec& lane) {
    m_filling = true;
    m_lane = lane;
    chooseDevice(m_device, lane.device);
    m_graph->setChecked(lane.cuda_graph);
    m_tf32->setChecked(lane.tf32);
    choose(m_weights, lane.weights);
    choose(m_kernels, lane.kernels);
    m_cache->clear();
    const std::vector<CacheKind> kinds = cacheKindsFor(lane);
    for (const CacheKind kind : kinds) addItem(m_cache, cacheName(kind), kind);
    if (m_cache->findData(static_cast<int>(lane.cache.kind)) < 0)
        addItem(m_cache, cacheName(lane.cache.kind), lane.cache.kind);
    choose(m_cache, lane.cache.kind);
    choose(m_dtype, lane.cache.dtype);
    choose(m_bits, lane.cache.bits);
    m_group->setValue(lane.cache.group);
    m_residual->setValue(lane.cache.residual);
    m_capacity->setValue(lane.cache.capacity);
    m_block->setValue(lane.cache.block);
    m_blocks->setValue(lane.cache.blocks);
    m_share->setChecked(lane.cache.share_prefixes);
    m_window->setValue(lane.window.size);
    m_sinks->setValue(lane.window.sinks);
    choose(m_padding, lane.padding);
    m_maxRows->setValue(lane.max_rows);
    m_budget->setValue(lane.budget);
    m_draftTokens->setValue(lane.draft.tokens);
    m_draftLayers->setValue(lane.draft.layers);
    m_draftNgram->setValue(lane.draft.ngram);
    if (m_draftModel->text() != modelRefText(lane.draft.model))
        m_draftModel->setText(modelRefText(lane.draft.model));
    choose(m_acceptance, lane.draft.acceptance);
    m_beams->setValue(lane.beams);
    LaneSpec shown = lane;
    if (!setPrefill(shown, m_prefill->text()) || shown.prefill_chunk != lane.prefill_chunk ||
        shown.prefill_partition != lane.prefill_partition)
        m_prefill->setText(prefillText(lane));
    choose(m_allocation, lane.allocation);
    m_filling = false;
    updateRows();
}

void LaneForm::readCache() {
    CacheSpec& cache = m_lane.cache;
    cache.kind = chosen(m_cache, cache.kind);
    cache.dtype = chosen(m_dtype, cache.dtype);
    cache.bits = chosen(m_bits, cache.bits);
    cache.group = m_group->value();
    cache.residual = m_residual->value();
    cache.capacity = m_capacity->value();
    cache.block = m_block->value();
    cache.blocks = m_blocks->value();
    cache.share_prefixes = m_share->isChecked();
}

void LaneForm::read() {
    if (m_filling) return;
    m_lane.device = chosenDevice(m_device);
    m_lane.cuda_graph = m_graph->isChecked();
    m_lane.tf32 = m_tf32->isChecked();
    m_lane.weights = chosen(m_weights, m_lane.weights);
    m_lane.kernels = chosen(m_kernels, m_lane.kernels);
    readCache();
    m_lane.window = {m_window->value(), m_sinks->value()};
    m_lane.padding = chosen(m_padding, m_lane.padding);
    m_lane.max_rows = m_maxRows->value();
    m_lane.budget = m_budget->value();
    DraftSpec& draft = m_lane.draft;
    draft.tokens = m_draftTokens->value();
    draft.layers = m_draftLayers->value();
    draft.ngram = m_draftNgram->value();
    draft.acceptance = chosen(m_acceptance, draft.acceptance);
    if (m_draftModel->text() != modelRefText(draft.model)) {
        const std::string text = m_draftModel->text().trimmed().toStdString();
        const Result<ModelRef> model = parse_model_ref(text);
        // What cannot be read is taken as a folder, which the check or the run then names.
        draft.model = model ? *model : ModelRef{.path = text, .preset = {}, .seed = 0};
    }
    m_lane.beams = m_beams->value();
    setPrefill(m_lane, m_prefill->text());
    m_lane.allocation = chosen(m_allocation, m_lane.allocation);
    dropForeignSettings(m_lane);
    // What is of no use any more shows its default.
    setLane(LaneSpec(m_lane));
    emit edited();
}

void LaneForm::updateRows() {
    const CacheKind kind = m_lane.cache.kind;
    const bool speculative = m_lane.mode == LaneMode::speculative;
    const bool continuous = m_lane.batching == Batching::continuous;
    const bool plain = m_lane.mode == LaneMode::cached && m_lane.batching == Batching::single;
    const auto row = [this](QWidget* field, bool visible) { m_rows->setRowVisible(field, visible); };
    const Device device = m_lane.device.value_or(m_deviceOfExperiment);
    const QString whyNoGraph = QString::fromStdString(why_no_graph(m_lane, device));
    row(m_device, !m_devices.devices.empty() || m_lane.device);
    row(m_graph, device.is_gpu() || m_lane.cuda_graph);
    // It can always be taken away.
    m_graph->setEnabled(whyNoGraph.isEmpty() || m_lane.cuda_graph);
    m_whyNoGraph->setText(tr("Not possible: %1.").arg(whyNoGraph));
    row(m_whyNoGraph, !whyNoGraph.isEmpty() && (device.is_gpu() || m_lane.cuda_graph));
    row(m_tf32, why_no_tf32(m_lane, device).empty() || m_lane.tf32);
    row(m_weights, m_lane.kernels == Kernels::packed);
    row(m_cache, !plain && kind != CacheKind::none);
    row(m_dtype, has_dtype(kind));
    row(m_bits, kind == CacheKind::kivi);
    row(m_group, kind == CacheKind::kivi);
    row(m_residual, kind == CacheKind::kivi);
    row(m_capacity, has_capacity(kind));
    row(m_block, kind == CacheKind::paged);
    row(m_blocks, kind == CacheKind::paged);
    row(m_share, kind == CacheKind::paged && continuous);
    row(m_window, true);
    row(m_sinks, m_lane.window.size > 0);
    row(m_padding, m_lane.batching == Batching::static_);
    row(m_maxRows, continuous);
    row(m_budget, continuous);
    row(m_draftTokens, speculative);
    row(m_draftLayers, speculative && m_lane.draft.kind == DraftKind::layers);
    row(m_draftNgram, speculative && m_lane.draft.kind == DraftKind::ngram);
    row(m_draftModel, speculative && m_lane.draft.kind == DraftKind::model);
    row(m_acceptance, speculative);
    row(m_beams, m_lane.mode == LaneMode::beam);
    row(m_prefill, m_lane.mode != LaneMode::naive);
}

}  // namespace decodescope
