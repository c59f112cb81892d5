#include "backends/gpu/recurrent_grad.h"

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"

namespace mlopt::test {
namespace {

constexpr int64_t kSteps = 6, kBatch = 3, kSize = 5, kHidden = 4;

Tensor part(Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, DType::kF32, seed); }

/// A layer's gradient in every direction, with and without its bias, first states and each of the outputs' gradients.
void require_layer(const std::string& op, int64_t gates, int outputs, const std::vector<Attr>& attrs) {
  const bool cell = op == "LSTM";
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const int64_t d = std::string_view(direction) == "bidirectional" ? 2 : 1, rows = gates * kHidden;
    const Dims state{d, kBatch, kHidden};
    const Tensor x = part({kSteps, kBatch, kSize}, 1), w = part({d, rows, kSize}, 2), r = part({d, rows, kHidden}, 3),
                 bias = part({d, 2 * rows}, 4), h = part(state, 5), c = part(state, 6),
                 dy = part({kSteps, d, kBatch, kHidden}, 7), dh = part(state, 8), dc = part(state, 9);
    OpOptions options{.attrs = attrs, .domain = "mlopt", .outputs = outputs};
    options.attrs.push_back(attr("direction", direction));
    options.attrs.push_back(attr("hidden_size", static_cast<int>(kHidden)));
    const Datum none;
    const auto require = [&](const Datum& b, const Datum& h0, const Datum& c0, const Datum& y, const Datum& yh,
                             const Datum& yc) {
      INFO(op << " " << direction);
      require_on_gpu(op + "Grad", {x, w, r, b, none, h0, c0, none, y, yh, yc}, options, 2e-5);
    };
    require(bias, h, cell ? Datum(c) : none, dy, dh, cell ? Datum(dc) : none);
    require(none, none, none, dy, none, none);
    require(bias, h, none, none, dh, none);
  }
}

}  // namespace

TEST_CASE("the gradient of an LSTM on a GPU") { require_layer("LSTM", 4, 7, {}); }

TEST_CASE("the gradient of a GRU on a GPU, with the reset gate before and behind the product") {
  for (const int linear : {0, 1}) require_layer("GRU", 3, 5, {attr("linear_before_reset", linear)});
}

TEST_CASE("the gradient of an RNN on a GPU with any of its activations") {
  require_layer("RNN", 1, 5, {});
  for (const char* name : {"Relu", "Sigmoid"})
    for (const char* direction : {"forward", "reverse"}) {
      INFO(name << " " << direction);
      const OpOptions options{.attrs = {attr("direction", direction), attr("hidden_size", static_cast<int>(kHidden)),
                                        attr("activations", std::vector<std::string>{name})},
                              .domain = "mlopt",
                              .outputs = 5};
      const Datum none;
      require_on_gpu("RNNGrad",
                     {part({kSteps, kBatch, kSize}, 1), part({1, kHidden, kSize}, 2), part({1, kHidden, kHidden}, 3),
                      none, none, none, none, none, part({kSteps, 1, kBatch, kHidden}, 7), none, none},
                     options, 2e-5);
    }
}

}  // namespace mlopt::test
