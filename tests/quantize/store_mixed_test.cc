#include <fmt/core.h>

#include "backends/reference/backend.h"
#include "core/onnx/infer.h"
#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "quantize/store_weights.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using namespace mlopt::quantize;

namespace {

struct Setup {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  test::MemoryData data;
  Means means;

  explicit Setup(Tensor x) : data(std::move(x), std::nullopt) {
    means.runner = &runner;
    means.data = &data;
  }
};

/// Matrix products of these widths, one after the other.
Model chain(const std::vector<int>& widths) {
  std::string inputs = fmt::format("g (float[N,{}] x0", widths[0]), nodes;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    inputs += fmt::format(", float[{},{}] W{}", widths[i], widths[i + 1], i);
    nodes += fmt::format("x{} = MatMul (x{}, W{})\n", i + 1, i, i);
  }
  Model model =
      test::fixture(fmt::format("{}) => (float[N,{}] x{}) {{ {} }}", inputs, widths.back(), widths.size() - 1, nodes));
  infer(model, standard_types);
  return model;
}

double bits_of(const Emitted& done) {
  int64_t bytes = 0, elements = 0;
  for (const StoredWeight& w : done.weights) bytes += w.bytes, elements += w.elements;
  return 8 * static_cast<double>(bytes) / static_cast<double>(elements);
}

}  // namespace

TEST_CASE("all of the room is used, also where much of the source is gone by the time that weights are stored") {
  const Setup s(test::uniform({6, 64}, -1, 1));
  for (const int64_t gone : {0, 40000}) {
    Model model = chain(std::vector<int>(9, 64));
    constexpr int64_t kAllowed = 26000;
    const int64_t source = written_size(model, "model.onnx") + gone;
    const Emitted done = store_mixed(model, parse_spec("mixed:size=26000"), s.means, source);
    CHECK(done.weights.size() == 8);
    CHECK(written_size(model, "model.onnx") <= kAllowed);
    CHECK(written_size(model, "model.onnx") > kAllowed * 9 / 10);
  }
}

TEST_CASE("a size that a smaller one is enough for is held, with room for the origin of the result") {
  Setup s(test::uniform({6, 33}, -1, 1));
  const auto recorded = [](const Model& model, const Spec& spec) {
    Model made = clone(model);
    made.metadata = {{"mlopt.version", "1.0.0"},
                     {"mlopt.spec", to_string(spec)},
                     {"mlopt.source_hash", "xxh3:" + std::string(32, '0')}};
    return made;
  };
  s.means.file_bytes = [&](const Model& m, const Spec& spec) { return written_size(recorded(m, spec), "model.onnx"); };
  const Model source = chain({33, 200, 33, 96, 64});
  int64_t least = written_size(source, "model.onnx");
  for (int64_t allowed = least; allowed > least / 8; allowed -= least / 40) {
    const Spec spec = parse_spec(fmt::format("mixed:size={}", allowed));
    Model made = clone(source);
    try {
      store_mixed(made, spec, s.means, 0);
    } catch (const Error& e) {
      CHECK(e.code == Code::kUsage);
      CHECK(allowed < least * 3 / 10);
      const std::string said = e.message;
      CHECK(test::contains(said, fmt::format("and {} are allowed", allowed)));
      continue;
    }
    CHECK(written_size(recorded(made, spec), "model.onnx") <= allowed);
  }
}

TEST_CASE("the least that is named is a budget that is held") {
  Setup s(test::uniform({6, 33}, -1, 1));
  constexpr int64_t kBeside = 1000;
  s.means.file_bytes = [](const Model& m, const Spec&) { return written_size(m, "model.onnx") + kBeside; };
  const Model source = chain({33, 200, 33, 96, 64});
  const auto store = [&](int64_t allowed) {
    Model made = clone(source);
    store_mixed(made, parse_spec(fmt::format("mixed:size={}", allowed)), s.means, 0);
    return written_size(made, "model.onnx") + kBeside;
  };
  const std::string said = test::error_of([&] { store(2000); });
  const int64_t least = std::stoll(said.substr(said.find("takes ") + 6));
  CHECK(store(least) == least);
  CHECK(test::contains(test::error_of([&] { store(least - 1); }), fmt::format("takes {} bytes", least)));
}

TEST_CASE("bits are those of what is stored, with blocks that are not full") {
  const Setup s(test::uniform({6, 64}, -1, 1));
  for (const double bits : {4.0, 5.5, 7.0}) {
    Model model = chain({64, 33, 33, 200});
    CHECK(bits_of(store_mixed(model, parse_spec(fmt::format("mixed:bits={}", bits)), s.means, 0)) <= bits);
  }
  Model model = chain({64, 33, 33, 200});
  CHECK(test::contains(test::error_of([&] { store_mixed(model, parse_spec("mixed:bits=1"), s.means, 0); }),
                       "are allowed"));
}

TEST_CASE("both weights of a recurrent layer are in the format of the layer, and both are counted") {
  const Setup s(test::uniform({6, 2, 64}, -1, 1));
  Model model = test::fixture(R"(g (float[S,2,64] x, float[1,128,64] W, float[1,128,32] R) => (float[S,1,2,32] y) {
    y = LSTM <hidden_size = 32> (x, W, R)
  })");
  infer(model, standard_types);
  const Emitted done = store_mixed(model, parse_spec("mixed:bits=6.5"), s.means, 0);
  REQUIRE(done.weights.size() == 2);
  CHECK(done.weights[0].format == done.weights[1].format);
  CHECK(bits_of(done) <= 6.5);
}
