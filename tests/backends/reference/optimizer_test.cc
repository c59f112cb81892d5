#include <cmath>

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

/// Three updates of three numbers as PyTorch 2.15 (torch.optim, float64) makes them: rate 0.25, decay 0.125, momentum
/// 0.5 or betas 0.5 and 0.75 with epsilon 1/128.
struct Expected {
  std::string op;
  int moments;
  std::vector<Attr> attrs;
  double updates[3][3];
};

std::vector<Expected> published() {
  const Attr decay = attr("weight_decay", 0.125f), momentum = attr("momentum", 0.5f);
  const std::vector<Attr> adam = {attr("beta1", 0.5f), attr("beta2", 0.75f), attr("epsilon", 0.0078125f), decay};
  return {
      {"SgdUpdate",
       1,
       {momentum, decay, attr("nesterov", 1)},
       {{0.4390625, -0.878125, 1.79375},
        {0.2583251953, -0.8166503906, 1.8627929688},
        {0.437707901, -1.023853302, 1.7380233765}}},
      {"SgdUpdate",
       1,
       {momentum, decay},
       {{0.459375, -0.91875, 1.8625},
        {0.3247070312, -0.8494140625, 1.860546875},
        {0.3972259521, -0.9632019043, 1.7764282227}}},
      {"SgdUpdate", 0, {}, {{0.475, -0.95, 1.925}, {0.375, -0.95, 2.05}, {0.525, -1.125, 2.025}}},
      {"AdamUpdate",
       2,
       adam,
       {{0.2614678899, -0.7558685446, 1.7535014006},
        {0.017959207, -0.5714471369, 1.7557765275},
        {0.1196779355, -0.7286641648, 1.638722943}}},
      {"AdamWUpdate",
       2,
       adam,
       {{0.252490942, -0.7281484962, 1.6938451777},
        {0.0081490789, -0.5852678779, 1.7753964696},
        {0.1228372841, -0.7610048121, 1.7518624952}}},
  };
}

/// `half`: the gradients come doubled, and the scale halves them.
void check_updates(const Expected& e, DType type, bool half, Backend* backend, double tolerance) {
  const double grads[3][3] = {{0.1, -0.2, 0.3}, {0.4, 0, -0.5}, {-0.6, 0.7, 0.1}};
  std::vector<Datum> kept = {tensor({3}, {0.5, -1, 2}, type)};
  for (int m = 0; m < e.moments; ++m) kept.emplace_back(tensor({3}, {0, 0, 0}, type));
  for (int step = 0; step < 3; ++step) {
    const double times = half ? 2 : 1;
    std::vector<Datum> inputs = kept;
    const double* g = grads[step];
    inputs.emplace_back(tensor({3}, {times * g[0], times * g[1], times * g[2]}, type));
    for (const double scalar : {0.25, step + 1.0, 1 / times}) inputs.emplace_back(tensor({}, {scalar}));
    kept = run_node(e.op, inputs, {.attrs = e.attrs, .domain = "mlopt", .outputs = e.moments + 1, .backend = backend});
    INFO(e.op << ", update " << step);
    const double* want = e.updates[step];
    require_close(kept[0].tensor(), tensor({3}, {want[0], want[1], want[2]}, type), tolerance);
  }
}

}  // namespace

TEST_CASE("optimizers update as PyTorch's do") {
  for (const Expected& e : published())
    for (const bool half : {false, true}) {
      check_updates(e, DType::kF64, half, nullptr, 1e-9);
      check_updates(e, DType::kF32, half, cpu_with_fallback().get(), 1e-6);
    }
}

TEST_CASE("LAMB scales Adam's step to the norm of the parameter") {
  const std::vector<Attr> attrs = {attr("beta1", 0.5f), attr("beta2", 0.5f), attr("epsilon", 0.0f)};
  std::vector<Datum> inputs = {tensor({2}, {3, 4})};
  for (int m = 0; m < 2; ++m) inputs.emplace_back(tensor({2}, {0, 0}));
  inputs.emplace_back(tensor({2}, {0.5, -2}));
  for (const double scalar : {0.1, 1.0, 1.0}) inputs.emplace_back(tensor({}, {scalar}));
  // Adam's first step is the gradient's sign, of norm sqrt(2); the parameter's is 5.
  const double step = 0.1 * 5 / std::sqrt(2.0);
  const auto made = run_node("LambUpdate", inputs, {.attrs = attrs, .domain = "mlopt", .outputs = 3});
  require_close(made[0].tensor(), tensor({2}, {3 - step, 4 + step}));
}

}  // namespace mlopt::test
