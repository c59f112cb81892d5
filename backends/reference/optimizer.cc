#include <cmath>
#include <vector>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

/// Inputs: parameter, `moments` values that the optimizer keeps, gradient, learning rate, number of the update from 1,
/// factor of the gradient. Outputs: the parameter and the moments after the update.
struct Update {
  explicit Update(Call& call, int moments) : call(call) {
    for (int i = 0; i <= moments; ++i) {
      kept.push_back(to_doubles(call.in(i)));
      require(call, call.in(i).dims() == call.in(moments + 1).dims(), "what is updated must have the gradient's shape");
    }
    grad = to_doubles(call.in(moments + 1));
    rate = number_in(call, moments + 2, 0);
    step = number_in(call, moments + 3, 1);
    const double scale = number_in(call, moments + 4, 1);
    for (double& g : grad) g *= scale;
    decay = call.view.get_float("weight_decay", 0);
  }

  void finish() const {
    for (size_t k = 0; k < kept.size(); ++k) {
      const Tensor& before = call.in(static_cast<int>(k));
      Tensor after(DType::kF64, before.dims());
      std::copy(kept[k].begin(), kept[k].end(), after.mutable_data<double>());
      call.set(static_cast<int>(k), as(after, before.dtype()));
    }
  }

  Call& call;
  std::vector<std::vector<double>> kept;  ///< parameter, moments
  std::vector<double> grad;
  double rate, step, decay;
};

/// Momentum as PyTorch has it: m = momentum m + g; p -= rate (g + momentum m) with Nesterov's, else rate m.
void sgd(Call& call) {
  const double momentum = call.view.get_float("momentum", 0);
  const bool nesterov = call.view.get_int("nesterov", 0) != 0;
  Update u(call, momentum != 0 ? 1 : 0);
  for (size_t i = 0; i < u.grad.size(); ++i) {
    double& p = u.kept[0][i];
    double step = u.grad[i] + u.decay * p;
    if (momentum != 0) {
      double& m = u.kept[1][i];
      m = momentum * m + step;
      step = nesterov ? step + momentum * m : m;
    }
    p -= u.rate * step;
  }
  u.finish();
}

/// Adam's direction for one number, after its moments have taken up the gradient.
struct Adam {
  Adam(const Call& call, double step)
      : beta1(call.view.get_float("beta1", 0.9f)),
        beta2(call.view.get_float("beta2", 0.999f)),
        epsilon(call.view.get_float("epsilon", 1e-8f)),
        correct1(1 - std::pow(beta1, step)),
        correct2(1 - std::pow(beta2, step)) {}

  double direction(double grad, double& first, double& second) const {
    first = beta1 * first + (1 - beta1) * grad;
    second = beta2 * second + (1 - beta2) * grad * grad;
    return first / correct1 / (std::sqrt(second / correct2) + epsilon);
  }

  double beta1, beta2, epsilon, correct1, correct2;
};

void adam(Call& call) {
  Update u(call, 2);
  const Adam a(call, u.step);
  for (size_t i = 0; i < u.grad.size(); ++i) {
    double& p = u.kept[0][i];
    p -= u.rate * a.direction(u.grad[i] + u.decay * p, u.kept[1][i], u.kept[2][i]);
  }
  u.finish();
}

void adamw(Call& call) {
  Update u(call, 2);
  const Adam a(call, u.step);
  for (size_t i = 0; i < u.grad.size(); ++i) {
    double& p = u.kept[0][i];
    p -= u.rate * (a.direction(u.grad[i], u.kept[1][i], u.kept[2][i]) + u.decay * p);
  }
  u.finish();
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return std::sqrt(sum);
}

/// The rate of a tensor times |parameter| / |direction|, where neither is 0.
void lamb(Call& call) {
  Update u(call, 2);
  const Adam a(call, u.step);
  std::vector<double> direction(u.grad.size());
  for (size_t i = 0; i < u.grad.size(); ++i)
    direction[i] = a.direction(u.grad[i], u.kept[1][i], u.kept[2][i]) + u.decay * u.kept[0][i];
  const double weights = norm(u.kept[0]), length = norm(direction);
  const double trust = weights > 0 && length > 0 ? weights / length : 1;
  for (size_t i = 0; i < u.grad.size(); ++i) u.kept[0][i] -= u.rate * trust * direction[i];
  u.finish();
}

constexpr Kernel kKernels[] = {
    {"mlopt", "SgdUpdate", sgd},
    {"mlopt", "AdamUpdate", adam},
    {"mlopt", "AdamWUpdate", adamw},
    {"mlopt", "LambUpdate", lamb},
};

}  // namespace

std::span<const Kernel> optimizer_kernels() { return kKernels; }

}  // namespace mlopt::reference
