#include <cmath>
#include <optional>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/softmax.h"

namespace mlopt::reference {
namespace {

/// Each label's loss and weight; a label that is ignored has neither.
struct Losses {
  Dims dims;  ///< of the labels
  std::vector<double> loss, weight;
};

void check_shapes(const Call& call, const Tensor& x, const Tensor& labels) {
  require(call, x.rank() >= 2, "the scores must be [batch, classes, ...]");
  Dims expected = x.dims();
  expected.erase(expected.begin() + 1);
  if (labels.dims() != expected)
    fail(call, "labels of shape " + to_string(labels.dims()) + " for scores of shape " + to_string(x.dims()));
}

/// `log_probability` is float64.
Losses pick_losses(const Call& call, const Tensor& log_probability) {
  const Tensor& labels = call.in(1);
  check_shapes(call, log_probability, labels);
  const AxisView view = around_axis(log_probability.dims(), 1);
  const std::vector<int64_t> classes = to_ints(labels);
  const std::vector<double> weights = call.has(2) ? to_doubles(call.in(2)) : std::vector<double>();
  require(call, !call.has(2) || static_cast<int64_t>(weights.size()) == view.length,
          "there must be a weight for each class");
  std::optional<int64_t> ignored;
  if (call.view.has("ignore_index")) ignored = call.view.get_int("ignore_index");
  Losses out{labels.dims(), std::vector<double>(classes.size()), std::vector<double>(classes.size())};
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t c = classes[i];
    if (ignored && c == *ignored) continue;
    if (c < 0 || c >= view.length) fail(call, "label " + std::to_string(c) + " is not a class");
    const auto at = static_cast<int64_t>(i);
    out.weight[i] = weights.empty() ? 1 : weights[static_cast<size_t>(c)];
    out.loss[i] = -out.weight[i] *
                  log_probability.data<double>()[(at / view.inner * view.length + c) * view.inner + at % view.inner];
  }
  return out;
}

/// Output 0: the losses, their sum, or their sum over the sum of the weights.
void reduce_losses(Call& call, const Losses& losses, DType type) {
  const std::string reduction = call.view.get_string("reduction", "mean");
  if (reduction == "none") return call.set(0, as(Tensor::of<double>(losses.dims, losses.loss), type));
  require(call, reduction == "mean" || reduction == "sum", "reduction must be none, sum or mean");
  double sum = 0, weight = 0;
  for (size_t i = 0; i < losses.loss.size(); ++i) {
    sum += losses.loss[i];
    weight += losses.weight[i];
  }
  call.set(0, as(Tensor::scalar<double>(reduction == "mean" ? sum / weight : sum), type));
}

void negative_log_likelihood(Call& call) {
  const Tensor& x = call.in(0);
  if (!is_float(x.dtype())) wrong_type(call, x.dtype());
  reduce_losses(call, pick_losses(call, as(x, DType::kF64)), x.dtype());
}

Tensor log_softmax(const Tensor& scores) {
  const AxisView view = around_axis(scores.dims(), 1);
  Tensor out(DType::kF64, scores.dims());
  const double* x = scores.data<double>();
  double* o = out.mutable_data<double>();
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    const int64_t base = row / view.inner * view.length * view.inner + row % view.inner;
    log_softmax_line(x + base, o + base, view.length, view.inner);
  }
  return out;
}

void softmax_cross_entropy(Call& call) {
  const Tensor& x = call.in(0);
  if (!is_float(x.dtype())) wrong_type(call, x.dtype());
  check_shapes(call, x, call.in(1));
  const Tensor log_probability = log_softmax(as(x, DType::kF64));
  reduce_losses(call, pick_losses(call, log_probability), x.dtype());
  call.set(1, as(log_probability, x.dtype()));
}

constexpr Kernel kKernels[] = {
    {"", "NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"", "SoftmaxCrossEntropyLoss", softmax_cross_entropy},
};

}  // namespace

std::span<const Kernel> loss_kernels() { return kKernels; }

}  // namespace mlopt::reference
