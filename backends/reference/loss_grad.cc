#include <cmath>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"
#include "backends/reference/softmax.h"

namespace mlopt::reference {
namespace {

/// The factor of each label's row: its weight times the gradient of its loss; 0 where the label is ignored.
struct Rows {
  std::vector<int64_t> classes;
  std::vector<double> factor;
};

Rows read_rows(const Call& call, const AxisView& view) {
  Rows rows{to_ints(call.in(1)), {}};
  const std::vector<double> grad = to_doubles(call.in(2));
  const std::vector<double> weights = call.has(3) ? to_doubles(call.in(3)) : std::vector<double>();
  const std::string reduction = call.view.get_string("reduction", "mean");
  const bool each = reduction == "none";
  require(call, static_cast<int64_t>(rows.classes.size()) == view.outer * view.inner, "labels do not fit the scores");
  require(call, grad.size() == (each ? rows.classes.size() : 1), "the gradient does not fit the loss");
  require(call, weights.empty() || static_cast<int64_t>(weights.size()) == view.length,
          "there must be a weight for each class");
  double total = 0;
  for (size_t i = 0; i < rows.classes.size(); ++i) {
    const int64_t c = rows.classes[i];
    const bool ignored = call.view.has("ignore_index") && c == call.view.get_int("ignore_index");
    if (!ignored && (c < 0 || c >= view.length)) fail(call, "label " + std::to_string(c) + " is not a class");
    const double weight = ignored ? 0 : weights.empty() ? 1 : weights[static_cast<size_t>(c)];
    total += weight;
    rows.factor.push_back(weight * grad[each ? i : 0]);
  }
  for (double& factor : rows.factor)
    if (reduction == "mean" && factor != 0) factor /= total;
  return rows;
}

/// Inputs: scores (or log probabilities) [batch, classes, ...], labels, the gradient of the loss, and class weights.
void loss_grad(Call& call, bool of_scores) {
  const Tensor x = widened(call.in(0));
  require(call, x.rank() >= 2, "the scores must be [batch, classes, ...]");
  const AxisView view = around_axis(x.dims(), 1);
  const Rows rows = read_rows(call, view);
  Tensor out = Tensor::zeros(x.dtype(), x.dims());
  with_float(call, x.dtype(), [&](auto tag) {
    using T = decltype(tag);
    for (int64_t row = 0; row < view.outer * view.inner; ++row) {
      const auto factor = static_cast<T>(rows.factor[static_cast<size_t>(row)]);
      if (factor == 0) continue;
      const int64_t base = row / view.inner * view.length * view.inner + row % view.inner;
      T* dx = out.mutable_data<T>() + base;
      if (of_scores) softmax_line(x.data<T>() + base, dx, view.length, view.inner);
      for (int64_t c = 0; c < view.length; ++c) dx[c * view.inner] *= factor;
      dx[rows.classes[static_cast<size_t>(row)] * view.inner] -= factor;
    }
  });
  call.set(0, as(out, call.in(0).dtype()));
}

void negative_log_likelihood_grad(Call& call) { loss_grad(call, /*of_scores=*/false); }
void softmax_cross_entropy_grad(Call& call) { loss_grad(call, /*of_scores=*/true); }

constexpr Kernel kKernels[] = {
    {"mlopt", "NegativeLogLikelihoodLossGrad", negative_log_likelihood_grad},
    {"mlopt", "SoftmaxCrossEntropyLossGrad", softmax_cross_entropy_grad},
};

}  // namespace

std::span<const Kernel> loss_grad_kernels() { return kKernels; }

}  // namespace mlopt::reference
