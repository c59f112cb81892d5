#include "core/calib/stages.h"

#include "backends/reference/backend.h"
#include "core/onnx/tools.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/memory_data.h"
#include "tests/support/op.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

struct Bench {
  std::unique_ptr<Backend> backend = reference_backend();
  Runner runner{*backend, inline_functions};
  Model model = test::fixture(R"(
    g (float[N,4] x, float[4,4] V, float[4,4] W) => (float[N,4] y, float[N,4] b) {
      a = MatMul (x, V)
      b = Relu (a)
      c = MatMul (b, W)
      d = Add (c, x)
      e = Sigmoid (d)
      y = Mul (e, b)
    })");
  test::MemoryData data{test::uniform({6, 4}, -1, 1), std::nullopt};
  Looking looking{&runner, &data, 6};

  Bench() {
    uint64_t seed = 3;
    for (const char* name : {"V", "W"})
      *model.graph->find(name)->constant = test::uniform({4, 4}, -1, 1, DType::kF32, ++seed);
  }
  std::vector<float> whole(int64_t sample) const {
    return to_floats(runner.compile(model)->run(data.batch(sample, 1).inputs)[0].tensor());
  }
};

}  // namespace

TEST_CASE("a model that runs a stretch at a time gives what it gives at once") {
  const Bench bench;
  Stages stages(bench.model, bench.looking);
  CHECK(stages.batches() == 6);
  CHECK(stages.values() == std::vector<std::string>{"x"});
  stages.advance(bench.model, "a");
  CHECK(stages.values() == std::vector<std::string>{"a", "x"});
  stages.advance(bench.model, "d");
  CHECK(stages.values() == std::vector<std::string>{"b", "d"});  // x is read no more, b still is
  stages.advance(bench.model, "y");
  for (int64_t i = 0; i < 6; ++i) CHECK(to_floats(stages.of("y")[static_cast<size_t>(i)].tensor()) == bench.whole(i));
}

TEST_CASE("what is changed behind a value shows, what is changed before it does not") {
  Bench bench;
  const std::vector<float> before = bench.whole(2);
  Stages stages(bench.model, bench.looking);
  stages.advance(bench.model, "b");
  *bench.model.graph->find("V")->constant = Tensor::zeros(DType::kF32, {4, 4});
  stages.advance(bench.model, "c");
  Stages same = stages;
  same.advance(bench.model, "y");
  CHECK(to_floats(same.of("y")[2].tensor()) == before);
  stages.of("c")[2] = Tensor::zeros(DType::kF32, {1, 4});
  stages.advance(bench.model, "y");
  CHECK(to_floats(stages.of("y")[2].tensor()) != before);
  CHECK(to_floats(stages.of("y")[1].tensor()) == to_floats(same.of("y")[1].tensor()));
}

TEST_CASE("samples that do not fit are left out") {
  const Bench bench;
  Stages stages(bench.model, bench.looking, 70);  // x: 16 bytes, then a or b beside it
  CHECK(stages.batches() == 5);
  stages.advance(bench.model, "d");
  CHECK(stages.batches() == 3);
  CHECK(stages.of("b").size() == 3);
  stages.limit_batches(2);
  CHECK(stages.of("d").size() == 2);
  const test::MemoryData none{Tensor::zeros(DType::kF32, {0, 4}), std::nullopt};
  CHECK_THROWS_AS(Stages(bench.model, {&bench.runner, &none, 4}), Error);
}
