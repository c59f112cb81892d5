// Constants that several nodes read in different ways, and such as only some plans of an executable have.
#include "backends/reference/backend.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/file_pages.h"
#include "tests/support/net.h"
#include "tests/support/temp_dir.h"

namespace mlopt::test {

TEST_CASE("weights that depend on the shape of an input are those of each plan, however many plans come and go") {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(DType::kF32, SymDims{Dim(8), Dim::symbol("n")}));
  Value* n = net.op("Shape", {x}, {{"start", int64_t{1}, ""}});
  Value* w = net.op("Slice", {net.constant(uniform({200, 40}, -1, 1)), net.constant(Tensor::ints({0})), n,
                              net.constant(Tensor::ints({0}))});
  net.output(net.op("MatMul", {x, net.op("Neg", {w})}));
  const auto cpu = cpu_with_fallback()->compile(net.model, {});
  const auto reference = reference_backend()->compile(net.model, {});
  for (int64_t size = 60; size < 200; ++size) {
    const Tensor input = uniform({8, size}, -1, 1);
    INFO(size);
    require_close(cpu->run(std::vector<Datum>{input})[0].tensor(),
                  reference->run(std::vector<Datum>{input})[0].tensor(), 1e-5);
  }
}

TEST_CASE("one constant may be the weights of convolutions of other groups") {
  Net net;
  Value* w = net.constant(uniform({8, 4, 3, 3}, -1, 1));
  Value* x = net.input({1, 4, 12, 12});
  Value* y = net.op("Conv", {x, w});
  net.output(net.op("Conv", {y, w}, {{"group", int64_t{2}, ""}}));
  net.output(net.op("Neg", {y}));
  require_same_result(net.model, 1e-4, true);
}

TEST_CASE("one constant may be a matrix of bytes with other zero points") {
  Net net;
  Value* x = net.graph().add_input("x", Type::tensor(DType::kU8, Dims{5, 40}));
  Value* w = net.constant(uniform({40, 30}, 0, 255, DType::kU8));
  Value* zero = net.constant(tensor({}, {3}, DType::kU8));
  for (const double z : {0.0, 100.0, 131.0})
    net.output(net.op("MatMulInteger", {x, w, zero, net.constant(tensor({}, {z}, DType::kU8))}));
  const std::vector<Datum> input{uniform({5, 40}, 0, 255, DType::kU8, 2)};
  const auto actual = cpu_with_fallback()->compile(net.model, {})->run(input);
  const auto expected = reference_backend()->compile(net.model, {})->run(input);
  for (size_t i = 0; i < expected.size(); ++i) require_close(actual[i].tensor(), expected[i].tensor());
}

TEST_CASE("weights that are packed do not stay in memory as the file has them") {
  constexpr int64_t kSide = 1024, kPages = kSide * kSide * 4 / 4096;
  Net net;
  net.output(net.op("MatMul", {net.input({4, kSide}), net.constant(uniform({kSide, kSide}, -1, 1))}));
  const TempDir folder;
  write_model(net.model, folder / "m.onnx");
  const Model model = read_model(folder / "m.onnx");
  const int64_t before = file_pages();
  const auto cpu = cpu_with_fallback()->compile(model, {});
  CHECK(file_pages() - before < kPages / 2);
  const std::vector<Datum> input{uniform({4, kSide}, -1, 1)};
  require_close(cpu->run(input)[0].tensor(), reference_backend()->compile(model, {})->run(input)[0].tensor(), 1e-4);
}

}  // namespace mlopt::test
