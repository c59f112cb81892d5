#include "core/calib/features.h"

#include "core/tensor/cast.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::attr;

namespace {

/// The features times the rows of the weight, which must be what the layer gives: [places of each image and group],
/// outputs of the group.
void require_outputs(const std::string& graph, const Dims& input, bool channels_second) {
  INFO(graph);
  const Model model = test::fixture(graph);
  const Found found = find_weights(model, {});
  REQUIRE(found.weights.size() == 1);
  const Weight& w = found.weights[0];
  REQUIRE(features_problem(w).empty());
  const Node& node = *w.readers[0];
  const Tensor x = test::uniform(input, -1, 1, DType::kF32, 7);
  std::vector<Datum> inputs(2);
  inputs[static_cast<size_t>(data_operand(w))] = x;
  inputs[static_cast<size_t>(w.operand)] = *w.value->constant;
  const Tensor y = test::run_op(node.op, inputs, {.attrs = node.attrs, .domain = node.domain});
  const Matrix weights = load(w);
  const int64_t outputs = w.rows / w.groups;
  std::vector<double> made(static_cast<size_t>(y.size()), 1e9);
  const int64_t images = channels_second ? y.dim(0) : 1, places = y.size() / (images * w.rows);
  std::vector<int64_t> seen(static_cast<size_t>(w.groups));  // places of each group so far
  each_features(w, node, x, [&](int64_t group, const Matrix& rows) {
    REQUIRE(rows.columns == w.columns);
    for (int64_t r = 0; r < rows.rows; ++r, ++seen[static_cast<size_t>(group)])
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = 0;
        for (int64_t c = 0; c < w.columns; ++c) sum += rows.at(r, c) * weights.at(group * outputs + o, c);
        const int64_t place = seen[static_cast<size_t>(group)], image = place / places;
        const int64_t at =
            channels_second ? (image * w.rows + group * outputs + o) * places + place % places : place * w.rows + o;
        made.at(static_cast<size_t>(at)) = sum;
      }
  });
  const std::vector<float> wanted = to_floats(y);
  for (size_t i = 0; i < wanted.size(); ++i) REQUIRE(made[i] == Approx(wanted[i]).margin(1e-4));
}

}  // namespace

TEST_CASE("what a product sums up are its features times its weights") {
  require_outputs("g (float[2,5,3] x, float[3,4] W) => (float[2,5,4] y) { y = MatMul (x, W) }", {2, 5, 3}, false);
  require_outputs("g (float[5,3] x, float[4,3] W) => (float[5,4] y) { y = Gemm <transB = 1> (x, W) }", {5, 3}, false);
  require_outputs("g (float[3,5] x, float[3,4] W) => (float[5,4] y) { y = Gemm <transA = 1> (x, W) }", {3, 5}, false);
  require_outputs("g (float[2,3,5] x, float[4,3] W) => (float[2,4,5] y) { y = MatMul (W, x) }", {2, 3, 5}, true);
  const auto joined = [](const std::string& trans, const std::string& x, const std::string& w) {
    return "g (float" + x + " x, float" + w + " W) => (float[2,4,5] y) { y = com.microsoft.FusedMatMul <" + trans +
           "> (W, x) }";
  };
  require_outputs(joined("transA = 1", "[2,3,5]", "[3,4]"), {2, 3, 5}, true);
  require_outputs(joined("transB = 1, alpha = 1.0", "[2,5,3]", "[4,3]"), {2, 5, 3}, true);
  require_outputs(joined("transA = 1, transB = 1", "[2,5,3]", "[3,4]"), {2, 5, 3}, true);
  require_outputs("g (float[3] x, float[3,4] W) => (float[4] y) { y = MatMul (x, W) }", {3}, false);
}

TEST_CASE("what a convolution sums up are its features times its weights") {
  for (const char* how :
       {"", "<strides = [2, 1], pads = [1, 0, 2, 1], dilations = [1, 2]>",
        "<auto_pad = \"SAME_UPPER\", strides = [2, 2]>", "<auto_pad = \"SAME_LOWER\">", "<auto_pad = \"VALID\">"})
    require_outputs(
        std::string("g (float[2,3,7,8] x, float[4,3,3,2] W) => (float[N,4,H,V] y) { y = Conv ") + how + " (x, W) }",
        {2, 3, 7, 8}, true);
  require_outputs("g (float[2,4,9] x, float[6,2,3] W) => (float[2,6,M] y) { y = Conv <group = 2> (x, W) }", {2, 4, 9},
                  true);
  require_outputs("g (float[1,2,40,40] x, float[3,2,1,1] W) => (float[1,3,40,40] y) { y = Conv (x, W) }",
                  {1, 2, 40, 40}, true);  // more places than come at once
}

TEST_CASE("what cannot be observed is said") {
  const auto problem = [](const char* graph, size_t i = 0) {
    const Model model = test::fixture(graph);
    return features_problem(find_weights(model, {}).weights.at(i));
  };
  CHECK_FALSE(problem("g (float[2,N,2] x, float[2,2,2] W) => (float[2,N,2] y) { y = MatMul (x, W) }").empty());
  CHECK_FALSE(problem("g (float[1,4,5] x, float[4,1,2] W) => (float[1,1,6] y) { y = ConvTranspose (x, W) }").empty());
  const char* lstm = R"(g (float[T,1,2] x, float[1,8,2] W, float[1,8,2] R) => (float[T,1,1,2] y) {
    y = LSTM <hidden_size = 2> (x, W, R)
  })";
  CHECK(problem(lstm, 0).empty());
  CHECK_FALSE(problem(lstm, 1).empty());
}
