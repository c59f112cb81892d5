#include "prune/dynamic/early_exit.h"

#include <algorithm>
#include <cmath>

#include "backends/reference/backend.h"
#include "core/ir/infer.h"
#include "core/ir/verify.h"
#include "core/onnx/infer.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

constexpr const char* kPictures =
    R"(g (float[N,2,8,8] x, float[4,2,3,3] A, float[4,4,3,3] B, float[3,4] C) => (float[N,3] y) {
    a = Conv <pads = [1,1,1,1]> (x, A)
    [early] b = Relu (a)
    c = Conv <pads = [1,1,1,1]> (b, B)
    d = Add (c, b)
    e = Relu (d)
    f = GlobalAveragePool (e)
    h = Flatten (f)
    y = Gemm <transB = 1> (h, C)
  })";

constexpr const char* kTokens = R"(g (float[1,5,6] x, float[6,6] A, float[6,6] B, float[6,3] C) => (float[1,3] y) {
    a = MatMul (x, A)
    b = Tanh (a)
    c = MatMul (b, B)
    d = ReduceMean <axes = [1], keepdims = 0> (c)
    e = MatMul (d, C)
    y = Softmax <axis = 1> (e)
  })";

std::vector<float> run(const Model& model, const Tensor& x) {
  return to_floats(reference_backend()->compile(model, {})->run(std::vector<Datum>{x})[0].tensor());
}

std::vector<float> softmax(const float* row) {
  double sum = 0;
  for (int c = 0; c < 3; ++c) sum += std::exp(row[c]);
  std::vector<float> p;
  for (int c = 0; c < 3; ++c) p.push_back(static_cast<float>(std::exp(row[c]) / sum));
  return p;
}

double surest(const float* row) {
  const std::vector<float> p = softmax(row);
  return *std::max_element(p.begin(), p.end());
}

struct Exits {
  Model source;
  std::vector<prune::ExitPlace> places;
  prune::ExitModel head;

  explicit Exits(const char* text, int64_t opset = 21) : source(test::fixture(text, opset)) {
    places = prune::exit_places(source, standard_types);
    head = prune::with_exit_head(source, places.at(0), standard_types, 3);
  }
  Model joined(double confidence) const {
    Model made = prune::with_exit(source, head.model, places.at(0), confidence, standard_types);
    CHECK(verify(made).empty());
    return made;
  }
};

}  // namespace

TEST_CASE("a classifier can be left where all that is behind a value hangs on it alone") {
  const Exits exits(kPictures);
  REQUIRE(exits.places.size() == 2);  // c is read beside b
  CHECK(exits.places[0].value == "b");
  CHECK(exits.places[0].macs == 2 * 4 * 9 * 64);
  CHECK(exits.places[1].value == "h");
  CHECK(exits.head.weights.size() == 4);
}

TEST_CASE("samples that the exit is sure of have what it says, the others what the source does") {
  const Exits exits(kPictures);
  const Tensor x = test::uniform({9, 2, 8, 8}, -2, 2);
  const std::vector<float> early = run(exits.head.model, x), late = run(exits.source, x);
  std::vector<double> sure;
  for (size_t r = 0; r < 9; ++r) sure.push_back(surest(&early[3 * r]));
  std::sort(sure.begin(), sure.end());
  for (const double confidence : {0.0, (sure[3] + sure[4]) / 2, 1.1}) {
    const std::vector<float> made = run(exits.joined(confidence), x);
    REQUIRE(made.size() == early.size());
    int leaving = 0;
    for (size_t r = 0; r < 9; ++r) {
      const bool leaves = surest(&early[3 * r]) >= confidence;
      leaving += leaves;
      for (size_t c = 0; c < 3; ++c) CHECK(made[3 * r + c] == Approx((leaves ? early : late)[3 * r + c]).margin(1e-5));
    }
    CHECK(leaving == (confidence == 0 ? 9 : confidence > 1 ? 0 : 5));
  }
  const Model joined = exits.joined(0.5);
  CHECK(joined.graph->outputs()[0]->name == "y");
  CHECK(joined.graph->inputs()[0]->name == "x");
}

TEST_CASE("a model of one sample leaves as a whole, and gives probabilities where the source does") {
  const Exits exits(kTokens, 17);
  const Tensor x = test::uniform({1, 5, 6}, -1, 1);
  const std::vector<float> scores = run(exits.head.model, x), late = run(exits.source, x);
  const std::vector<float> early = softmax(scores.data());
  const std::vector<float> left = run(exits.joined(0), x), stayed = run(exits.joined(1.1), x);
  for (size_t c = 0; c < 3; ++c) {
    CHECK(left[c] == Approx(early[c]).margin(1e-6));
    CHECK(stayed[c] == Approx(late[c]).margin(1e-6));
    CHECK(left[c] != Approx(late[c]).margin(1e-6));
  }
}

TEST_CASE("what is no classifier has no exit") {
  const auto refusal = [](const char* text) {
    return test::thrown_by([&] { prune::exit_places(test::fixture(text), standard_types); });
  };
  const Error rank = refusal("g (float[1,2,3] x, float[3,3] A) => (float[1,2,3] y) { y = MatMul (x, A) }");
  CHECK(rank.code == Code::kUnsupported);
  CHECK(rank.message.find("classifiers") != std::string::npos);
  CHECK(refusal("g (float[4,3] x, float[3,3] A) => (float[4,3] y) { y = MatMul (x, A) }")
            .message.find("takes 4 at once") != std::string::npos);
  CHECK(refusal("g (float[N,3] x, float[3,3] A) => (float[N,3] y, float[N,3] z) { y = MatMul (x, A)\n z = Relu (y) }")
            .code == Code::kUnsupported);
  // The input is read again at the end.
  CHECK(prune::exit_places(test::fixture(R"(g (float[N,3] x, float[3,3] A, float[3,3] B) => (float[N,3] y) {
      a = MatMul (x, A)
      b = Relu (a)
      c = MatMul (b, B)
      y = Add (c, x)
    })"),
                           standard_types)
            .empty());
}
