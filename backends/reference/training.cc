#include <cmath>
#include <vector>

#include "backends/reference/compute.h"
#include "backends/reference/kernels.h"

namespace mlopt::reference {
namespace {

// Inputs: learning rate, update count, then `lists` lists of n tensors each (values, gradients, moments ...); outputs:
// the new values, then the new moments.

double attribute(const Call& call, const char* name, float otherwise) { return call.view.get_float(name, otherwise); }

/// step(values): for each element its value, gradient and moments, in the order of the inputs; changes them in place.
template <class Step>
void update(Call& call, int lists, const Step& step) {
  require(call, call.input_count() > 2 && (call.input_count() - 2) % lists == 0,
          "the lists of tensors differ in length");
  const int n = (call.input_count() - 2) / lists;
  for (int k = 0; k < n; ++k) {
    std::vector<Tensor> now;
    for (int list = 0; list < lists; ++list) {
      const Tensor& tensor = call.in(2 + list * n + k);
      if (!is_float(tensor.dtype())) wrong_type(call, tensor.dtype());
      require(call, tensor.dims() == call.in(2 + k).dims(), "a value, its gradient and its moments have one shape");
      now.push_back(cast(tensor, DType::kF64));
    }
    std::vector<double*> data;
    for (Tensor& tensor : now) data.push_back(tensor.mutable_data<double>());
    std::vector<double> element(static_cast<size_t>(lists));
    for (int64_t i = 0; i < now[0].size(); ++i) {
      for (size_t list = 0; list < element.size(); ++list) element[list] = data[list][i];
      step(element);
      for (size_t list = 0; list < element.size(); ++list) data[list][i] = element[list];
    }
    call.set(k, as(now[0], call.in(2 + k).dtype()));
    for (int list = 2; list < lists; ++list)
      call.set((list - 1) * n + k, as(now[static_cast<size_t>(list)], call.in(2 + list * n + k).dtype()));
  }
}

/// Duchi, Hazan and Singer 2011.
void adagrad(Call& call) {
  const double decay = attribute(call, "decay_factor", 0), norm = attribute(call, "norm_coefficient", 0);
  const double epsilon = attribute(call, "epsilon", 1e-6f);
  const double rate = number_in(call, 0, 0) / (1 + number_in(call, 1, 0) * decay);
  update(call, 3, [=](std::vector<double>& v) {
    double &x = v[0], &squares = v[2];
    const double gradient = norm * x + v[1];
    squares += gradient * gradient;
    x -= rate * gradient / (std::sqrt(squares) + epsilon);
  });
}

/// Kingma and Ba 2015.
void adam(Call& call) {
  const double alpha = attribute(call, "alpha", 0.9f), beta = attribute(call, "beta", 0.999f);
  const double epsilon = attribute(call, "epsilon", 1e-6f), norm = attribute(call, "norm_coefficient", 0);
  const double post = attribute(call, "norm_coefficient_post", 0), count = number_in(call, 1, 0);
  double rate = number_in(call, 0, 0);
  if (count > 0) rate *= std::sqrt(1 - std::pow(beta, count)) / (1 - std::pow(alpha, count));
  update(call, 4, [=](std::vector<double>& v) {
    double &x = v[0], &mean = v[2], &squares = v[3];
    const double gradient = norm * x + v[1];
    mean = alpha * mean + (1 - alpha) * gradient;
    squares = beta * squares + (1 - beta) * gradient * gradient;
    x = (1 - post) * (x - rate * mean / (std::sqrt(squares) + epsilon));
  });
}

void momentum(Call& call) {
  const double alpha = attribute(call, "alpha", 0), norm = attribute(call, "norm_coefficient", 0);
  const double rate = number_in(call, 0, 0);
  const double beta = number_in(call, 1, 0) > 0 ? attribute(call, "beta", 1) : 1;
  const std::string mode = call.view.get_string("mode", "standard");
  require(call, mode == "standard" || mode == "nesterov", "mode must be standard or nesterov");
  update(call, 3, [=](std::vector<double>& v) {
    double &x = v[0], &velocity = v[2];
    const double gradient = norm * x + v[1];
    velocity = alpha * velocity + beta * gradient;
    x -= rate * (mode == "nesterov" ? gradient + alpha * velocity : velocity);
  });
}

constexpr Kernel kKernels[] = {
    {"ai.onnx.preview.training", "Adagrad", adagrad},
    {"ai.onnx.preview.training", "Adam", adam},
    {"ai.onnx.preview.training", "Momentum", momentum},
};

}  // namespace

std::span<const Kernel> training_kernels() { return kKernels; }

}  // namespace mlopt::reference
