// SPDX-License-Identifier: GPL-3.0-or-later
// From opening a model file of about 500 MB to its first token, for several tensor types. The files are
// written into a temporary folder, and deleted at the end. Prints a table; judges nothing. With --keep FOLDER
// the files stay.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/formats/ggml_types.h"
#include "engine/formats/model_source.h"
#include "engine/model/forward.h"

using namespace decodescope;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

constexpr int width = 1024;
constexpr int ff_width = 2816;
constexpr int vocab = 8192;
constexpr int n_head = 16;

/// A file of the architecture llama that is written piece by piece.
class FileWriter {
public:
    FileWriter(const std::filesystem::path& path, GgmlType type, int n_layer)
        : file_(path, std::ios::binary), type_(*find_ggml_type(static_cast<std::uint32_t>(type))) {
        text_key("general.architecture", "llama");
        number_key("llama.context_length", 512);
        number_key("llama.embedding_length", width);
        number_key("llama.block_count", static_cast<std::uint32_t>(n_layer));
        number_key("llama.feed_forward_length", ff_width);
        number_key("llama.attention.head_count", n_head);
        add_string(keys_, "llama.attention.layer_norm_rms_epsilon");
        add<std::uint32_t>(keys_, 6);
        add<float>(keys_, 1e-5f);
        ++n_key_;
        tensor("token_embd.weight", width, vocab);
        tensor("output_norm.weight", width, 0);
        for (int layer = 0; layer < n_layer; ++layer) {
            const auto name = [&](const char* part) { return fmt::format("blk.{}.{}.weight", layer, part); };
            tensor(name("attn_norm"), width, 0);
            tensor(name("ffn_norm"), width, 0);
            for (const char* part : {"attn_q", "attn_k", "attn_v", "attn_output"})
                tensor(name(part), width, width);
            for (const char* part : {"ffn_gate", "ffn_up"}) tensor(name(part), width, ff_width);
            tensor(name("ffn_down"), ff_width, width);
        }
        write();
    }

private:
    template <class T>
    static void add(std::string& bytes, T value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    static void add_string(std::string& bytes, const std::string& text) {
        add<std::uint64_t>(bytes, text.size());
        bytes += text;
    }
    void text_key(const char* name, const char* value) {
        add_string(keys_, name);
        add<std::uint32_t>(keys_, 8);
        add_string(keys_, value);
        ++n_key_;
    }
    void number_key(const char* name, std::uint32_t value) {
        add_string(keys_, name);
        add<std::uint32_t>(keys_, 4);
        add<std::uint32_t>(keys_, value);
        ++n_key_;
    }
    /// `rows` 0: a norm, in F32.
    void tensor(const std::string& name, std::uint64_t columns, std::uint64_t rows) {
        const GgmlTypeInfo& type = rows == 0 ? *find_ggml_type(0) : type_;
        add_string(tensors_, name);
        add<std::uint32_t>(tensors_, rows == 0 ? 1 : 2);
        add<std::uint64_t>(tensors_, columns);
        if (rows != 0) add<std::uint64_t>(tensors_, rows);
        add<std::uint32_t>(tensors_, type.id);
        add<std::uint64_t>(tensors_, end_);
        const std::uint64_t elements = columns * std::max<std::uint64_t>(rows, 1);
        sizes_.emplace_back(&type, elements / type.block_elements * type.block_bytes);
        end_ += (sizes_.back().second + 31) / 32 * 32;
    }
    void write() {
        std::string head = "GGUF";
        add<std::uint32_t>(head, 3);
        add<std::uint64_t>(head, sizes_.size());
        add<std::uint64_t>(head, n_key_);
        head += keys_ + tensors_;
        head.append((32 - head.size() % 32) % 32, '\0');
        file_ << head;
        const std::string norm = pattern(*find_ggml_type(0), width * 4);
        const std::string matrix = pattern(type_, std::uint64_t{ff_width} * std::max(width, vocab) * 4);
        for (const auto& [type, bytes] : sizes_) {
            const std::string& data = bytes == norm.size() ? norm : matrix;
            file_.write(data.data(), static_cast<std::streamsize>(bytes));
            file_.write("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                        static_cast<std::streamsize>((32 - bytes % 32) % 32));
        }
    }
    /// Blocks of random bits whose 16-bit scales, and floats, are small.
    static std::string pattern(const GgmlTypeInfo& type, std::uint64_t bytes) {
        std::string data(static_cast<std::size_t>(bytes), '\0');
        std::uint32_t state = 1;
        for (char& c : data) {
            state = state * 1664525u + 1013904223u;
            c = static_cast<char>(state >> 24);
        }
        for (std::size_t block = 0; block + type.block_bytes <= data.size(); block += type.block_bytes) {
            switch (static_cast<GgmlType>(type.id)) {
                case GgmlType::f32: data[block + 3] = '\x3c'; break;
                case GgmlType::f16: data[block + 1] = '\x20'; break;
                case GgmlType::q8_0: data[block + 1] = '\x08'; break;
                case GgmlType::q4_k: data[block + 1] = data[block + 3] = '\x04'; break;
                default: break;
            }
        }
        return data;
    }

    std::ofstream file_;
    const GgmlTypeInfo& type_;
    std::string keys_, tensors_;
    std::uint64_t n_key_ = 0;
    std::uint64_t end_ = 0;
    std::vector<std::pair<const GgmlTypeInfo*, std::uint64_t>> sizes_;
};

int fail(const Error& error) {
    fmt::print(stderr, "{}\n", error.message);
    return 3;
}

int measure(const std::filesystem::path& path, const char* name) {
    const auto ledger = std::make_shared<MemoryLedger>();
    const double cpu = cpu_seconds();
    const auto start = Clock::now();
    const auto model = load_model({.path = path.string(), .preset = {}, .seed = 0}, ledger);
    if (!model) return fail(model.error());
    const double loaded = seconds_since(start);
    const double loading_cpu = cpu_seconds() - cpu;
    const auto backend = make_cpu_backend(2);
    // As every lane does by default: packed for our kernels.
    const auto prepared = backend->prepare(model->weights, WeightType::f32, ledger);
    if (!prepared) return fail(prepared.error());
    const Weights& weights = **prepared;
    const ModelConfig& config = weights.config;
    constexpr int n_prompt = 8;
    constexpr int n_step = 16;
    CacheSpec spec;
    spec.kind = CacheKind::static_;
    const KvShape shape{config.n_layer, 1, config.n_kv_head, config.head_dim};
    auto cache = make_cache(spec, shape, {n_prompt + n_step, n_prompt, 0, {}}, ledger);
    if (!cache) return fail(cache.error());
    Workspace workspace(ledger);
    double first = 0;
    std::vector<double> steps;
    for (int i = 0; i < n_step; ++i) {
        const auto step = Clock::now();
        CallTokens call;
        if (i == 0) {
            call.add_row(std::vector<std::int32_t>(n_prompt, 7), 0);
        } else {
            call.add(7, n_prompt - 1 + i);
            call.end_row();
        }
        const auto out = forward(weights, call, last_rows(call), cache->get(), {}, workspace, *backend);
        if (!out) return fail(out.error());
        if (i == 0) {
            first = seconds_since(start);
        } else {
            steps.push_back(seconds_since(step));
        }
    }
    std::sort(steps.begin(), steps.end());
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    fmt::print(
        "{:5}  {:6.1f} MB  loaded {:5.2f} s  first token {:5.2f} s  step {:7.2f} ms (least {:.2f})  "
        "weights {:6.1f} MB mapped, {:6.1f} MB private  resident {:6.1f} MB  getting ready {:5.2f} s of "
        "CPU\n",
        name, static_cast<double>(std::filesystem::file_size(path)) / 1e6, loaded, first,
        steps[steps.size() / 2] * 1e3, steps.front() * 1e3, static_cast<double>(ledger->mapped()) / 1e6,
        static_cast<double>(ledger->live(Owner::weights) - ledger->mapped()) / 1e6,
        static_cast<double>(usage.ru_maxrss) * 1.024e-3, loading_cpu);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    struct Case {
        const char* name;
        GgmlType type;
        int n_layer;
    };
    const std::string folder_name =
        (std::filesystem::temp_directory_path() / "decodescope-bench-XXXXXX").string();
    std::string made = folder_name;
    const bool keep = argc > 2 && std::strcmp(argv[1], "--keep") == 0;
    const std::filesystem::path folder = keep ? argv[2] : mkdtemp(made.data());
    int code = 0;
    for (const Case& one : {Case{"F32", GgmlType::f32, 9}, Case{"F16", GgmlType::f16, 19},
                            Case{"Q8_0", GgmlType::q8_0, 36}, Case{"Q4_K", GgmlType::q4_k, 69}}) {
        if (argc > 3 && std::strcmp(argv[3], one.name) != 0) continue;
        const auto path = folder / fmt::format("{}.gguf", one.name);
        if (!std::filesystem::exists(path)) FileWriter(path, one.type, one.n_layer);
        code = std::max(code, measure(path, one.name));
        if (!keep) std::filesystem::remove(path);
    }
    if (!keep) std::filesystem::remove_all(folder);
    return code;
}
