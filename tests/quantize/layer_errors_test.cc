#include "quantize/layer_errors.h"

#include <cmath>

#include "backends/reference/backend.h"
#include "core/calib/model_inputs.h"
#include "core/data/random.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

/// a = x * FACTOR, b = x + SHIFT.
Model model_with(const std::string& factor, const std::string& shift) {
  return parse_text(R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[4,8] x) => (float[4,8] a, float[4,8] b) <float f = {)" +
                    factor + "}, float s = {" + shift + R"(}> {
      a = Mul (x, f)
      b = Add (x, s)
    })");
}

}  // namespace

TEST_CASE("the errors of layers are measured by value, the worst first") {
  const Model source = model_with("2", "0"), result = model_with("2.002", "0.5");
  const auto backend = reference_backend();
  const auto data = random_dataset(model_inputs(source), {.count = 3, .seed = 7});
  int64_t done = 0;
  const auto errors =
      quantize::layer_errors(*backend, {}, source, result, {{"scaled", "Mul", "a", "a"}, {"moved", "Add", "b", "b"}},
                             *data, [&](int64_t now, int64_t total) {
                               done = now;
                               CHECK(total == 3);
                             });
  CHECK(done == 3);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].layer == "moved");
  CHECK(errors[0].difference.max_abs == Approx(0.5));
  // An error of a thousandth is 60 dB below the signal, whatever the signal.
  CHECK(errors[1].layer == "scaled");
  CHECK(errors[1].difference.sqnr_db == Approx(60).margin(0.01));
}

TEST_CASE("a layer that is exact comes last") {
  const Model source = model_with("2", "0"), result = model_with("2", "0.25");
  const auto backend = reference_backend();
  const auto data = random_dataset(model_inputs(source), {.count = 1});
  const auto errors = quantize::layer_errors(*backend, {}, source, result,
                                             {{"scaled", "Mul", "a", "a"}, {"moved", "Add", "b", "b"}}, *data, {});
  CHECK(errors[0].layer == "moved");
  CHECK(std::isinf(errors[1].difference.sqnr_db));
}
