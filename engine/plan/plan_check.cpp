// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/plan_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "engine/backend/backend.h"
#include "engine/cache/concat_cache.h"
#include "engine/core/clock.h"
#include "engine/formats/model_source.h"
#include "engine/measure/memory_map.h"
#include "engine/measure/process_memory.h"
#include "engine/plan/measured_run.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace decodescope {

namespace {

namespace fs = std::filesystem;

constexpr int warm_rounds = 20;
constexpr std::int64_t warm_ns = 100'000'000;  // for each shape

bool is_small(std::int64_t difference, std::int64_t whole) {
    const auto share = static_cast<std::int64_t>(memory_share_limit * static_cast<double>(whole));
    return std::abs(difference) <= std::max(share, memory_bytes_limit);
}

std::int64_t of(std::uint64_t bytes) {
    return static_cast<std::int64_t>(bytes);
}

/// Gives freed blocks back to the system, so that they are not taken for something in use.
void trim_heap() {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

/// Lets the libraries allocate the work memory that products of these shapes make them keep.
Result<void> warm_libraries(Backend& backend, const PlanShape& shape, const PlanRequest& request) {
    const auto ledger = std::make_shared<MemoryLedger>();
    const std::int64_t rows = request.batch * request.largest_call();
    for (const TensorGroup& group : shape.tensors()) {
        if (group.rows == 1) continue;
        const bool embedding =
            group.rows == shape.vocab || (shape.learned_positions && group.rows == shape.n_positions);
        const std::int64_t n = embedding ? request.batch : rows;
        const auto floats = [&](std::int64_t count) {
            return Buffer::floats(ledger, Owner::workspace, static_cast<std::size_t>(count));
        };
        auto x = floats(n * group.columns);
        auto y = floats(n * group.rows);
        auto w = floats(group.rows * group.columns);
        for (const auto* buffer : {&x, &y, &w}) {
            if (!*buffer) return buffer->error();
        }
        const Linear product{w->f32(), nullptr, static_cast<int>(group.columns), static_cast<int>(group.rows),
                             nullptr};
        // Which thread gets which of the library's buffers differs from call to call: enough calls use all.
        const std::int64_t until = now_ns() + warm_ns;
        for (int round = 0; round < 2 || (round < warm_rounds && now_ns() < until); ++round) {
            for (const std::int64_t n_row : {n, std::int64_t{request.batch}})
                backend.linear(x->f32(), static_cast<int>(n_row), product, y->f32(), false);
        }
    }
    return {};
}

/// Absolute paths of the files that the model's weights may be mapped from.
std::vector<std::string> weight_files(const ModelRef& ref) {
    std::vector<std::string> files;
    if (!ref.preset.empty()) return files;
    const auto path = resolve_model_path(ref.path);
    if (!path) return files;
    std::error_code error;
    if (!fs::is_directory(*path, error)) return {fs::canonical(*path, error).string()};
    for (fs::directory_iterator entry(*path, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().extension() == ".safetensors")
            files.push_back(fs::canonical(entry->path(), error).string());
    }
    return files;
}

/// What is read while the lane still holds everything.
struct Readings {
    KvBytes kv;
    std::int64_t kv_peak = 0;
    std::int64_t kv_copied = 0;
    OwnerBytes tensors{};
    std::int64_t mapped = 0;
    MemoryMap map;
    ProcessMemory memory;
    std::int64_t rss_peak = -1;
    std::int64_t own_trimmed = 0;  // of the process, when the heap has given back what it can
};

Result<Readings> read_all(const Lane& lane, const MemoryLedger& ledger,
                          const std::vector<std::string>& files) {
    Readings now;
    now.rss_peak = read_peak_rss();
    now.memory = read_process_memory();
    auto map = read_memory_map(files);
    if (!map) return map.error();
    now.map = *map;
    now.tensors = ledger.live();
    now.mapped = of(ledger.mapped());
    if (const KvCache* cache = lane.cache()) {
        now.kv = cache->bytes();
        now.kv_copied = of(cache->copied_bytes());
        const auto* concat = dynamic_cast<const ConcatCache*>(cache);
        now.kv_peak = of(concat != nullptr ? concat->peak_bytes() : now.kv.reserved);
    }
    trim_heap();
    const auto trimmed = read_memory_map(files);
    if (!trimmed) return trimmed.error();
    now.own_trimmed = trimmed->own();
    return now;
}

/// How much more than asked for the tensors take because they end inside huge pages. Where memory is
/// fragmented the system does not give a huge page for each; a tensor's end is then as likely to lie on one
/// as any other part.
std::int64_t rounding_of(const MemoryPlan& plan, std::int64_t mapped, std::int64_t huge_pages) {
    const std::int64_t on_huge_pages = plan.tensors() - mapped - plan.heap_tensors + plan.page_rounding;
    if (plan.page_rounding == 0 || huge_pages >= on_huge_pages) return plan.page_rounding;
    const double share =
        static_cast<double>(std::max<std::int64_t>(0, huge_pages)) / static_cast<double>(on_huge_pages);
    return static_cast<std::int64_t>(share * static_cast<double>(plan.page_rounding));
}

void fill_rows(const PlanRequest& request, const MemoryMap& before, const Readings& now, PlanCheck& check) {
    const MemoryPlan& plan = check.plan;
    const auto owner = [&](Owner who) { return of(now.tensors[static_cast<std::size_t>(who)]); };
    const auto add = [&](const char* part, std::int64_t planned, std::int64_t measured,
                         CheckAgreement wanted = CheckAgreement::exact) {
        check.rows.push_back({part, planned, measured, wanted});
    };
    // Tensors used in a mapped file lie as closely as they do there.
    add("weights", plan.weights, owner(Owner::weights),
        now.mapped > 0 ? CheckAgreement::within_limit : CheckAgreement::exact);
    add("KV live", plan.kv.live, of(now.kv.live));
    add("KV reserved", plan.kv.reserved, of(now.kv.reserved));
    add("KV tables and positions", plan.kv.meta, of(now.kv.meta));
    if (request.cache.kind == CacheKind::concat) {
        const std::int64_t copied =
            concat_copied_tokens(request.prompt(), request.new_tokens - 1, request.prefill_chunk);
        add("KV copied by growing", copied * request.batch * plan.kv.per_token, now.kv_copied);
        add("KV peak during an append", plan.kv.peak, now.kv_peak);
    }
    add("activations", plan.activations, owner(Owner::activations));
    add("logits", plan.logits, owner(Owner::logits));
    add("workspace", plan.workspace, owner(Owner::workspace));
    add("private memory", plan.tensors() + check.page_rounding, now.own_trimmed - before.own(),
        CheckAgreement::within_limit);
}

void fill_memory(const MemoryMap& before, const ProcessMemory& heap_before, const Readings& now,
                 PlanCheck& check) {
    check.rss = now.map.rss;
    check.rss_before = before.rss;
    check.rss_peak = now.rss_peak < 0 ? now.rss_peak : std::max(now.rss_peak, now.map.rss);
    const ProcessMemory& heap = now.memory;
    if (heap.heap_in_use == ProcessMemory::not_measured) return;
    const auto add = [&](std::string part, std::int64_t bytes, std::string meaning) {
        check.memory.push_back({std::move(part), bytes, std::move(meaning)});
    };
    for (std::size_t i = 0; i < n_owner; ++i) {
        const auto who = static_cast<Owner>(i);
        const std::int64_t mapped = who == Owner::weights ? now.mapped : 0;
        add(fmt::format("tensors: {}", to_string(who)), of(now.tensors[i]) - mapped,
            "live tensors of this owner, as asked for");
    }
    add("tensors: rest of their huge pages", check.page_rounding,
        "tensors of 2 MiB and more end inside a huge page");
    add("heap in use, not tensors", heap.heap_in_use + heap.heap_mapped - check.plan.heap_tensors,
        "the C library's count less the small tensors: tokenizer, tables, strings");
    // Free blocks whose pages went back to the system are not resident any more, so its count does not help.
    add("heap free", std::clamp<std::int64_t>(now.map.heap - heap.heap_in_use, 0, heap.heap_free),
        "kept by the C library for later, as far as it is resident");
    add("mapped model files", now.map.model_files, "resident pages of the model's files");
    add("program: code and constants", now.map.program + now.map.other_files + now.map.kernel,
        "resident pages of the program, its libraries and other files");
    add("program: data, stacks, library buffers",
        now.map.program_data + now.map.stack +
            std::max<std::int64_t>(0, before.anonymous - heap_before.heap_mapped),
        "pages the libraries have written to, thread stacks, and what BLAS keeps for products");
    check.remainder = check.rss;
    for (const MemoryLine& line : check.memory) check.remainder -= line.bytes;
}

}  // namespace

bool CheckRow::holds() const {
    return wanted == CheckAgreement::exact ? planned == measured : is_small(difference(), planned);
}

bool PlanCheck::memory_is_explained() const {
    return memory.empty() || is_small(remainder, rss);
}

bool PlanCheck::holds() const {
    return memory_is_explained() &&
           std::all_of(rows.begin(), rows.end(), [](const CheckRow& row) { return row.holds(); });
}

Result<PlanCheck> check_plan(const ModelRef& ref, const PlanShape& model_shape, const PlanRequest& request,
                             std::stop_token stop, const std::function<void(CheckStage)>& stage) {
    const auto tell = [&](CheckStage begins) {
        if (stage) stage(begins);
    };
    if (!model_shape.config) {
        return Error{ErrorKind::unsupported,
                     fmt::format("Plan: {} cannot be run by this program, so the plan cannot be checked.",
                                 model_shape.name)};
    }
    if (request.weights) {
        return Error{
            ErrorKind::bad_input,
            fmt::format("Plan: this program holds weights in f32, so a plan for {} cannot be checked.",
                        request.weights->name)};
    }
    const auto expected = plan_memory(model_shape, request);
    if (!expected) return expected.error();
    const std::int64_t needed = expected->total();
    if (const std::int64_t available = available_memory(); available > 0 && needed > available) {
        return Error{ErrorKind::out_of_memory,
                     fmt::format("Plan: {} needs {} bytes, but {} are available here, so it is not run.",
                                 model_shape.name, needed, available)};
    }
    tell(CheckStage::preparing);
    auto backend = make_cpu_backend(request.threads);
    DS_TRY(warm_libraries(*backend, model_shape, request));
    trim_heap();
    const ProcessMemory heap_before = read_process_memory();
    const auto before = read_memory_map();
    if (!before) return before.error();

    tell(CheckStage::loading);
    const auto ledger = std::make_shared<MemoryLedger>();
    const auto model = load_model(ref, ledger, {stop, {}});
    if (!model) return model.error();
    trim_heap();  // of what only loading needed
    const bool peak_is_ours = reset_peak_rss();
    const PlanShape shape = plan_shape(model->weights->config, model->weights->source);
    PlanCheck check;
    PlanRequest as_loaded = request;
    as_loaded.mapped_weights = of(ledger->mapped());
    auto plan = plan_memory(shape, as_loaded);
    if (!plan) return plan.error();
    check.plan = *std::move(plan);

    tell(CheckStage::running);
    LaneSpec lane;
    lane.name = "plan";
    lane.mode = LaneMode::cached;
    lane.kernels = request.prepared.empty() ? Kernels::openblas : Kernels::packed;
    if (!request.prepared.empty()) lane.weights = request.prepared.front();
    lane.cache = request.cache;
    lane.window = request.window;
    lane.prefill_chunk = static_cast<int>(request.prefill_chunk);
    if (request.batch > 1) lane.batching = Batching::static_;
    const MeasuredLoad load{request.batch, static_cast<int>(request.prompt()),
                            static_cast<int>(request.new_tokens), 0};
    const std::vector<std::string> files = weight_files(ref);
    const auto work = run_counted(lane, {model->weights, nullptr, backend.get(), ledger}, load, stop,
                                  [&](const Lane& running) -> Result<void> {
                                      const auto now = read_all(running, *ledger, files);
                                      if (!now) return now.error();
                                      check.page_rounding = rounding_of(
                                          check.plan, now->mapped, now->map.huge_pages - before->huge_pages);
                                      fill_rows(request, *before, *now, check);
                                      fill_memory(*before, heap_before, *now, check);
                                      if (!peak_is_ours) check.rss_peak = -1;
                                      return {};
                                  });
    if (!work) return work.error();
    return check;
}

}  // namespace decodescope
