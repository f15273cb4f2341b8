// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QString>

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/formats/hf_folder.h"
#include "tests/engine/formats/test_files.h"

namespace decodescope::test {

/// One tensor of a model file under construction.
struct TinyTensor {
    QString name;
    QString dtype;
    std::vector<int> shape;
    QByteArray data;
};

/// A small valid gpt2 folder (2 layers, 2 heads, 4 wide, 6 inside, 5 positions, 7 tokens) that a test can
/// break. Every element has its own value.
class TinyModel {
public:
    QJsonObject config =
        QJsonDocument::fromJson(R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
        "vocab_size": 7, "n_positions": 5, "n_embd": 4, "n_layer": 2, "n_head": 2, "n_inner": 6,
        "eos_token_id": 6})")
            .object();
    std::vector<TinyTensor> tensors;

    TinyModel() : TinyModel(7, 5, 4, 6, 2) {}
    TinyModel(int vocab, int positions, int width, int inner, int heads) {
        config["vocab_size"] = vocab;
        config["n_positions"] = positions;
        config["n_embd"] = width;
        config["n_inner"] = inner;
        config["n_head"] = heads;
        add("wte.weight", {vocab, width});
        add("wpe.weight", {positions, width});
        for (int layer = 0; layer < 2; ++layer) {
            const QString h = QString("h.%1.").arg(layer);
            for (const char* norm : {"ln_1", "ln_2"}) {
                add(h + norm + ".weight", {width});
                add(h + norm + ".bias", {width});
            }
            const auto conv = [&](const char* name, int n_in, int n_out) {
                add(h + name + ".weight", {n_in, n_out});
                add(h + name + ".bias", {n_out});
            };
            conv("attn.c_attn", width, 3 * width);
            conv("attn.c_proj", width, width);
            conv("mlp.c_fc", width, inner);
            conv("mlp.c_proj", inner, width);
        }
        add("ln_f.weight", {width});
        add("ln_f.bias", {width});
    }

    /// Element `i` of a tensor added by `add`.
    static float value(const QString& name, std::size_t i) { return base(name) + fraction(i); }

    TinyTensor& add(const QString& name, std::vector<int> shape) {
        std::size_t n = 1;
        for (const int dimension : shape) n *= static_cast<std::size_t>(dimension);
        std::vector<float> values(n);
        const float first = base(name);
        for (std::size_t i = 0; i < n; ++i) values[i] = first + fraction(i);
        const QByteArray data(reinterpret_cast<const char*>(values.data()), static_cast<qsizetype>(4 * n));
        tensors.push_back({name, "F32", std::move(shape), data});
        return tensors.back();
    }
    TinyTensor& at(const QString& name) {
        const auto found =
            std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; });
        if (found == tensors.end()) throw std::runtime_error("no tensor " + name.toStdString());
        return *found;
    }
    void remove(const QString& name) {
        std::erase_if(tensors, [&](const auto& t) { return t.name == name; });
    }
    void prefix_all() {
        for (TinyTensor& tensor : tensors) {
            if (tensor.name != "lm_head.weight") tensor.name.prepend("transformer.");
        }
    }
    /// Keeps the upper 16 bits of every element.
    static void store_as_bf16(TinyTensor& tensor) {
        QByteArray half;
        for (qsizetype i = 0; i < tensor.data.size(); i += 4) half += tensor.data.mid(i + 2, 2);
        tensor.dtype = "BF16";
        tensor.data = half;
    }

    /// `shift`: bytes by which the data misses a multiple of 64.
    static QByteArray file(const std::vector<TinyTensor>& tensors, int shift = 0) {
        QByteArray header = "{";
        QByteArray data;
        for (const TinyTensor& tensor : tensors) {
            QByteArray shape;
            for (const int dimension : tensor.shape) {
                shape += (shape.isEmpty() ? "" : ",") + QByteArray::number(dimension);
            }
            header += (header.size() == 1 ? "\"" : ",\"") + tensor.name.toUtf8() + "\":{\"dtype\":\"" +
                      tensor.dtype.toUtf8() + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
                      QByteArray::number(data.size()) + "," +
                      QByteArray::number(data.size() + tensor.data.size()) + "]}";
            data += tensor.data;
        }
        header += "}";
        while ((8 + header.size()) % 64 != shift) header += " ";
        return safetensors(header, data);
    }
    void write(const TestFolder& folder) const {
        folder.write("config.json", QJsonDocument(config).toJson());
        folder.write("model.safetensors", file(tensors));
    }

private:
    static float base(const QString& name) {
        unsigned sum = 0;
        for (const QChar c : name) sum = sum * 31 + c.unicode();
        return static_cast<float>(sum % 97);
    }
    static float fraction(std::size_t i) { return static_cast<float>(i % 4096) / 4096.0f; }
};

/// Opens and loads the folder.
inline Result<std::shared_ptr<const Weights>> load(
    const TestFolder& folder, std::shared_ptr<MemoryLedger> ledger = std::make_shared<MemoryLedger>(),
    std::stop_token stop = {}) {
    const auto opened = open_hf_folder(folder.path());
    if (!opened) return opened.error();
    return load_hf_weights(*opened, std::move(ledger), {std::move(stop), {}});
}

/// Compares a loaded matrix or vector with the tensor `name` of a TinyModel. `n_in` > 0: stored [n_in,
/// n_out].
inline bool holds(const float* loaded, const QString& name, int n_out, int n_in = 0) {
    const int n = std::max(n_in, 1);
    for (int o = 0; o < n_out; ++o) {
        for (int i = 0; i < n; ++i) {
            const auto stored = static_cast<std::size_t>(n_in == 0 ? o : i * n_out + o);
            if (loaded[o * n + i] != TinyModel::value(name, stored)) return false;
        }
    }
    return true;
}

/// The model in two shards, a.safetensors and b.safetensors, without their index: returns its weight_map.
/// `shift`: bytes by which the data of the second misses a multiple of 64.
inline QJsonObject write_shards(const TestFolder& folder, const TinyModel& model, int shift = 0) {
    std::vector<TinyTensor> first, second;
    QJsonObject map;
    for (const TinyTensor& tensor : model.tensors) {
        const bool early = tensor.name.startsWith("h.0.");
        (early ? first : second).push_back(tensor);
        map[tensor.name] = early ? "a.safetensors" : "b.safetensors";
    }
    folder.write("config.json", QJsonDocument(model.config).toJson());
    folder.write("a.safetensors", TinyModel::file(first));
    folder.write("b.safetensors", TinyModel::file(second, shift));
    return map;
}

/// Whether the weights are those of an unchanged TinyModel.
inline bool holds_model(const Weights& weights) {
    const ModelConfig& c = weights.config;
    const auto norm = [&](const Norm& n, const QString& name) {
        return holds(n.weight, name + ".weight", c.d_model) && holds(n.bias, name + ".bias", c.d_model);
    };
    const auto linear = [&](const Linear& l, const QString& name) {
        return holds(l.weight, name + ".weight", l.n_out, l.n_in) && holds(l.bias, name + ".bias", l.n_out);
    };
    bool ok = holds(weights.token_embedding, "wte.weight", c.vocab * c.d_model) &&
              holds(weights.position_embedding, "wpe.weight", c.n_positions * c.d_model) &&
              norm(weights.final_norm, "ln_f");
    for (int i = 0; i < c.n_layer; ++i) {
        const LayerWeights& layer = weights.layers[static_cast<std::size_t>(i)];
        const QString h = QString("h.%1.").arg(i);
        ok = ok && norm(layer.attn_norm, h + "ln_1") && norm(layer.ff_norm, h + "ln_2") &&
             linear(layer.attn_qkv, h + "attn.c_attn") && linear(layer.attn_out, h + "attn.c_proj") &&
             linear(layer.ff_up, h + "mlp.c_fc") && linear(layer.ff_down, h + "mlp.c_proj");
    }
    return ok;
}

}  // namespace decodescope::test
