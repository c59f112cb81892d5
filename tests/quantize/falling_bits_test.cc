#include "quantize/falling_bits.h"

#include <set>

#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

Model net() {
  Model model = test::fixture(R"(
    g (float[N,64] x, float[64,48] V, float[48,32] W) => (float[N,32] y) {
      [first] a = MatMul (x, V)
      [second] y = MatMul (a, W)
    })");
  for (const char* name : {"V", "W"})
    model.graph->find(name)->constant = test::uniform(model.graph->find(name)->constant->dims(), -1, 1);
  infer(model, standard_types);
  return model;
}

/// How many numbers a row of the weight has at most.
size_t levels(FallingBits& falling, int64_t update, const Model& model, const std::string& name) {
  const Tensor rounded = falling.at(update).rounded(name, *model.graph->find(name)->constant);
  const std::vector<float> numbers = to_floats(rounded);
  const auto columns = static_cast<size_t>(rounded.dim(1));
  size_t most = 0;
  for (size_t c = 0; c < columns; ++c) {
    std::set<float> found;
    for (size_t i = c; i < numbers.size(); i += columns) found.insert(numbers[i]);
    most = std::max(most, found.size());
  }
  return most;
}

}  // namespace

TEST_CASE("each width is kept twice as long as the one before, and the least for three quarters") {
  std::vector<int> kept(9);
  for (int64_t update = 0; update < 2520; ++update) ++kept[static_cast<size_t>(FallingBits::bits_at(update, 2520, 2))];
  CHECK(kept == std::vector<int>{0, 0, 1890, 320, 160, 80, 40, 20, 10});
  CHECK(FallingBits::bits_at(0, 1, 7) == 8);
  CHECK(FallingBits::bits_at(0, 0, 2) == 2);
}

TEST_CASE("weights fall to the widths of their layers and stay there") {
  const Model model = net();
  FallingBits falling(model, parse_spec("w2:layers=w4=second"), 2520);
  CHECK(levels(falling, 0, model, "V") > 16);
  CHECK(levels(falling, 0, model, "W") > 16);
  CHECK(levels(falling, 400, model, "V") == 8);  // 3 bits
  CHECK(levels(falling, 400, model, "W") == 16);
  CHECK(levels(falling, 2519, model, "V") == 4);
  CHECK(levels(falling, 2519, model, "W") == 16);
  WeightRounding last(model, parse_spec("w2:layers=w4=second"));
  for (const std::string& name : last.names()) {
    const Tensor& weight = *model.graph->find(name)->constant;
    CHECK(to_floats(falling.at(700).rounded(name, weight)) == to_floats(last.rounded(name, weight)));
  }
  CHECK(levels(falling, 0, model, "V") > 16);  // as a training that goes back asks
}

TEST_CASE("what has no widths above its own is refused") {
  for (const char* spec : {"w8", "nf4", "ternary", "fp16", "codebook8v4"}) {
    INFO(spec);
    CHECK(test::contains(test::error_of([&] { FallingBits(net(), parse_spec(spec), 100); }), "could fall"));
  }
}
