#include "core/exec/pieces.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/exec/inferred.h"
#include "core/exec/samples.h"
#include "core/ir/bind.h"

namespace mlopt {
namespace {

double bytes_of(const std::vector<Value*>& values) {
  double sum = 0;
  for (const Value* v : values) {
    const auto desc = v && !v->constant ? inferred(*v) : std::nullopt;
    if (desc) sum += static_cast<double>(desc->bytes());
  }
  return sum;
}

/// How many samples are best computed at a time.
double wanted_samples(const Model& model, double samples, int threads) {
  double most = 1, moved = 1, weights = 0;
  for (const Value* v : model.graph->initializers()) weights += static_cast<double>(v->constant->bytes());
  for (const Node* node : model.graph->nodes()) {
    const double step = bytes_of(node->inputs()) + bytes_of(node->outputs());
    most = std::max(most, step);
    moved += step;
  }
  // What a step reads and writes should lie in the second-level caches. But each piece reads the weights again, which
  // may cost a quarter of what its samples move.
  constexpr double kCache = 2 << 20, kWeights = 4;
  return std::max(
      {2.0, static_cast<double>(threads), kCache * threads * samples / most, kWeights * weights * samples / moved});
}

/// The divisor of `samples` next to what is wanted.
int64_t samples_of_piece(int64_t samples, double wanted) {
  int64_t best = samples;
  const auto off = [&](int64_t n) { return std::abs(std::log(static_cast<double>(n) / wanted)); };
  for (int64_t n = 1; n * n <= samples; ++n)
    for (const int64_t divisor : {n, samples / n})
      if (samples % n == 0 && off(divisor) < off(best)) best = divisor;
  return best;
}

/// How many samples the inputs hold; 0: none, or not equally many.
int64_t samples_of(const std::vector<bool>& batched, const std::vector<Dims>& shapes) {
  int64_t samples = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!batched[i]) continue;
    if (samples != 0 && shapes[i][0] != samples) return 0;
    samples = shapes[i][0];
  }
  return samples;
}

/// Samples [n * index, n * (index + 1)) of a tensor.
Tensor piece_of(const Tensor& whole, int64_t count, int64_t index) {
  Dims dims = whole.dims();
  dims[0] /= count;
  const size_t bytes = whole.bytes() / static_cast<size_t>(count);
  return Tensor::view(whole.dtype(), std::move(dims), {whole.raw() + bytes * static_cast<size_t>(index), bytes},
                      nullptr);
}

}  // namespace

std::vector<Dims> Pieces::shapes(std::vector<Dims> whole) const {
  for (size_t i = 0; i < whole.size() && count > 1; ++i)
    if (batched[i]) whole[i][0] /= count;
  return whole;
}

Pieces choose_pieces(const Model& model, Model& bound, const std::vector<Dims>& shapes, int threads, TypeRule types) {
  Pieces pieces;
  for (const Value* v : model.graph->inputs()) {
    const auto& dims = v->type.dims;
    if (!v->constant) pieces.batched.push_back(dims && !dims->empty() && !dims->front().value());
  }
  const int64_t samples = samples_of(pieces.batched, shapes);
  if (samples < 2) return {};
  const int64_t piece = samples_of_piece(samples, wanted_samples(bound, static_cast<double>(samples), threads));
  if (piece == samples) return {};
  const auto dims = dims_of_samples(bound, pieces.batched, samples);
  if (!dims) return {};
  pieces.count = samples / piece;
  Model part = clone(model);
  bind_input_shapes(part, pieces.shapes(shapes), types);
  if (dims_of_samples(part, pieces.batched, piece) != dims) return {};
  bound = std::move(part);
  return pieces;
}

std::vector<Datum> run_pieces(const Plan& plan, const Pieces& pieces, std::span<const Datum> inputs,
                              const RunContext& context) {
  if (pieces.count == 1) return plan.run(inputs, context);
  std::vector<Datum> given(inputs.begin(), inputs.end());
  std::vector<Tensor> outputs;
  for (int64_t index = 0; index < pieces.count; ++index) {
    for (size_t i = 0; i < given.size(); ++i)
      if (pieces.batched[i]) given[i] = piece_of(inputs[i].tensor(), pieces.count, index);
    const std::vector<Datum> made = plan.run(given, context);
    for (size_t i = 0; i < made.size(); ++i) {
      const Tensor& part = made[i].tensor();
      if (index == 0) {
        Dims dims = part.dims();
        dims[0] *= pieces.count;
        outputs.emplace_back(part.dtype(), std::move(dims));
      }
      std::memcpy(outputs[i].mutable_raw() + static_cast<size_t>(index) * part.bytes(), part.raw(), part.bytes());
    }
  }
  return {outputs.begin(), outputs.end()};
}

}  // namespace mlopt
