#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "core/base/keep_mask.h"
#include "core/base/rng.h"
#include "core/exec/sample_runs.h"

namespace mlopt::reference {
namespace {

/// The generator of the node: its own seed, else the run's. (Dropout's seed is an integer, the others' a float.)
Rng generator(const Call& call) {
  if (!call.view.has("seed")) return Rng(call.seed);
  if (call.view.node().op == "Dropout") return Rng(static_cast<uint64_t>(call.view.get_int("seed")));
  return Rng(std::bit_cast<uint32_t>(call.view.get_float("seed", 0.0f)));
}

DType output_type(const Call& call, DType otherwise) {
  const int64_t number = call.view.get_int("dtype", static_cast<int64_t>(otherwise));
  if (number <= 0 || number >= kDTypeCount) fail(call, "dtype is not a known element type: " + std::to_string(number));
  return static_cast<DType>(number);
}

template <class Draw>
void fill(Call& call, const Dims& dims, DType type, const Draw& draw) {
  if (!is_float(type)) wrong_type(call, type);
  Rng rng = generator(call);
  Tensor out(DType::kF64, dims);
  double* values = out.mutable_data<double>();
  for (int64_t i = 0; i < out.size(); ++i) values[i] = draw(rng);
  call.set(0, as(out, type));
}

void fill_normal(Call& call, const Dims& dims, DType type) {
  const double mean = call.view.get_float("mean", 0.0f), scale = call.view.get_float("scale", 1.0f);
  fill(call, dims, type, [=](Rng& rng) { return mean + scale * rng.normal(); });
}

void fill_uniform(Call& call, const Dims& dims, DType type) {
  const double low = call.view.get_float("low", 0.0f), high = call.view.get_float("high", 1.0f);
  fill(call, dims, type, [=](Rng& rng) { return rng.uniform(low, high); });
}

void random_normal(Call& call) { fill_normal(call, call.view.get_ints("shape"), output_type(call, DType::kF32)); }
void random_uniform(Call& call) { fill_uniform(call, call.view.get_ints("shape"), output_type(call, DType::kF32)); }
void random_normal_like(Call& call) { fill_normal(call, call.in(0).dims(), output_type(call, call.in(0).dtype())); }
void random_uniform_like(Call& call) { fill_uniform(call, call.in(0).dims(), output_type(call, call.in(0).dtype())); }

void bernoulli(Call& call) {
  const Tensor& x = call.in(0);
  if (!is_float(x.dtype())) wrong_type(call, x.dtype());
  Rng rng = generator(call);
  Tensor out = as(x, DType::kF64);
  double* values = out.mutable_data<double>();
  for (int64_t i = 0; i < out.size(); ++i) values[i] = rng.uniform() < values[i] ? 1 : 0;
  call.set(0, as(out, output_type(call, x.dtype())));
}

/// Samples classes with probabilities proportional to exp(input), row by row.
void multinomial(Call& call) {
  const Tensor& x = call.in(0);
  require(call, x.rank() == 2 && x.dim(1) > 0, "the input must be [batch, classes]");
  if (!is_float(x.dtype())) wrong_type(call, x.dtype());
  const int64_t samples = call.view.get_int("sample_size", 1), classes = x.dim(1);
  require(call, samples >= 0, "sample_size must not be negative");
  const Tensor logits = as(x, DType::kF64);
  Tensor out(DType::kI64, {x.dim(0), samples});
  int64_t* o = out.mutable_data<int64_t>();
  Rng rng = generator(call);
  std::vector<double> running(static_cast<size_t>(classes));
  for (int64_t row = 0; row < x.dim(0); ++row) {
    const double* line = logits.data<double>() + row * classes;
    const double most = *std::max_element(line, line + classes);
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) running[static_cast<size_t>(c)] = total += std::exp(line[c] - most);
    for (int64_t s = 0; s < samples; ++s) {
      const auto found = std::upper_bound(running.begin(), running.end(), rng.uniform() * total);
      o[row * samples + s] = std::min<int64_t>(found - running.begin(), classes - 1);
    }
  }
  call.set(0, as(out, output_type(call, DType::kI32)));
}

/// Does this Dropout drop? An attribute before opset 7, never from 7 to 11, an input from 12 on.
bool is_training(const Call& call) {
  if (call.view.opset() < 7) return call.view.get_int("is_test", 0) == 0;
  return call.view.opset() >= 12 && int_in(call, 2, 0) != 0;
}

void dropout(Call& call) {
  const Tensor& x = call.in(0);
  if (!is_float(x.dtype())) wrong_type(call, x.dtype());
  const DType mask_type = call.view.opset() < 10 ? x.dtype() : DType::kBool;
  const double ratio = call.view.opset() < 12 ? call.view.get_float("ratio", 0.5f) : number_in(call, 1, 0.5);
  const bool drops = is_training(call) && ratio != 0;
  require(call, !drops || (ratio > 0 && ratio < 1), "ratio must be in [0, 1)");
  Tensor mask(DType::kF64, x.dims());
  double* kept = mask.mutable_data<double>();
  Rng rng = generator(call);
  for (int64_t i = 0; i < x.size(); ++i) kept[i] = !drops || rng.uniform() >= ratio ? 1 : 0;
  call.set(1, as(mask, mask_type));
  if (!drops) return call.set(0, x);
  Tensor out = as(x, DType::kF64);
  double* values = out.mutable_data<double>();
  for (int64_t i = 0; i < x.size(); ++i) values[i] = kept[i] == 0 ? 0 : values[i] / (1 - ratio);
  call.set(0, as(out, x.dtype()));
}

/// Dropout whose mask follows from keys of the samples, for training (core/train/dropout.h). Inputs x and keys: x / (1
/// - ratio) where the mask keeps it, else 0.
void seeded_dropout(Call& call) {
  const Tensor &x = call.in(0), &keys = call.in(1);
  const int64_t axis = call.view.get_int("axis", 0), node = call.view.get_int("node", 0);
  const double ratio = static_cast<double>(call.view.get_float("ratio", 0));
  require(call, ratio >= 0 && ratio < 1, "ratio must be in [0, 1)");
  require(call, keys.dtype() == DType::kI64 && keys.rank() == 1 && keys.size() > 0, "keys must be int64 [samples + 1]");
  const auto runs = sample_runs(x.dims(), axis, keys.size() - 1);
  require(call, runs.has_value(), "the axis has no equal parts for the samples");
  const int64_t* key = keys.data<int64_t>() + (axis < 0 ? keys.size() - 1 : 0);
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    Tensor out = widened(x);
    T* values = out.mutable_data<T>();
    for (int64_t o = 0; o < runs->outer; ++o)
      for (int64_t s = 0; s < runs->samples; ++s) {
        const KeepMask mask(key[s], node, ratio);
        for (int64_t i = 0; i < runs->length; ++i, ++values)
          *values = mask[o * runs->length + i] ? static_cast<T>(static_cast<double>(*values) / (1 - ratio)) : 0;
      }
    call.set(0, as(out, x.dtype()));
  });
}

/// Numbers in the shape and type of x that follow from the last of the keys, for training. Inputs x and keys.
void seeded(Call& call, double (*number_at)(uint64_t key, int64_t position)) {
  const Tensor &x = call.in(0), &keys = call.in(1);
  require(call, keys.dtype() == DType::kI64 && keys.size() > 0, "keys must be int64");
  const uint64_t key = seed_of({static_cast<uint64_t>(keys.data<int64_t>()[keys.size() - 1]),
                                static_cast<uint64_t>(call.view.get_int("node", 0))});
  Tensor out(DType::kF64, x.dims());
  for (int64_t i = 0; i < out.size(); ++i) out.mutable_data<double>()[i] = number_at(key, i);
  call.set(0, as(out, x.dtype()));
}

void seeded_uniform(Call& call) { seeded(call, seeded_uniform_at); }
void seeded_normal(Call& call) { seeded(call, seeded_normal_at); }

constexpr Kernel kKernels[] = {
    {"", "Bernoulli", bernoulli},
    {"", "Dropout", dropout},
    {"", "Multinomial", multinomial},
    {"", "RandomNormal", random_normal},
    {"", "RandomNormalLike", random_normal_like},
    {"", "RandomUniform", random_uniform},
    {"", "RandomUniformLike", random_uniform_like},
    {"mlopt", "SeededDropout", seeded_dropout},
    {"mlopt", "SeededNormal", seeded_normal},
    {"mlopt", "SeededUniform", seeded_uniform},
};

}  // namespace

std::span<const Kernel> random_kernels() { return kKernels; }

}  // namespace mlopt::reference
