#include "backends/gpu/interface.h"
#include "backends/reference/backend.h"
#include "core/tensor/cast.h"
#include "tests/cusparselt/fake_cusparselt.h"
#include "tests/support/catch.h"
#include "tests/support/fake_library.h"
#include "tests/support/gpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

constexpr const char* kPacked = "these tests were packed without libmlopt_fake_cusparselt.so";

struct Present : FakeLibrary<FakeCusparselt> {
  Present() : FakeLibrary("mlopt_fake_cusparselt", "fake_cusparselt") {}
};

Attr number(const char* name, int64_t value) { return {name, value, {}}; }

/// Weights [k, n] where turned, else [n, k], with zeros along k: two in four, or one.
Tensor weights(int64_t k, int64_t n, bool turned, DType type, int zeros = 2) {
  Tensor made = uniform(turned ? Dims{k, n} : Dims{n, k}, 0.1, 1, DType::kF32, 2);
  auto* at = made.mutable_data<float>();
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) {
      float& w = at[turned ? j * n + i : i * k + j];
      if ((j + i) % 4 < zeros) w = 0;
      if (j % 3 == 0) w = -w;  // -0 is zero too
    }
  return cast(made, type);
}

/// x by weights in their type, plus a row, then ReLU.
Net product(const Dims& x, const Tensor& w, bool gemm = false) {
  Net net;
  Value* y = net.op("Cast", {net.input(x)}, {number("to", static_cast<int64_t>(w.dtype()))});
  const int64_t n = gemm ? w.dim(0) : w.dim(1);
  Value* row = net.constant(cast(uniform({n}, -1, 1, DType::kF32, 3), w.dtype()));
  y = gemm ? net.op("Gemm", {y, net.constant(w), row}, {number("transB", 1)})
           : net.op("Add", {net.op("MatMul", {y, net.constant(w)}), row});
  net.output(net.op("Cast", {net.op("Relu", {y})}, {number("to", 1)}));
  return net;
}

/// Three runs give what the reference gives.
void require_product(const Net& net, const Dims& x, double tolerance) {
  const std::vector<Datum> inputs{uniform(x, -1, 1)};
  const Tensor expected = reference_backend()->compile(net.model, {})->run(inputs)[0].tensor();
  const auto plan = gpu_on_host()->compile(net.model, {});
  for (int time = 0; time < 3; ++time) require_close(plan->run(inputs)[0].tensor(), expected, tolerance);
}

}  // namespace

TEST_CASE("products with weights two in four of which are zero, by a library that stands for cuSPARSELt") {
  const Present fake;
  if (!fake) return skip(kPacked);
  CHECK(gpu::gpu_interface().sparse_version() == 801);
  for (const auto& [type, tolerance] : {std::pair(DType::kF16, 1e-2), std::pair(DType::kBF16, 1e-1)})
    for (const bool gemm : {false, true}) {
      const Dims x = gemm ? Dims{8, 64} : Dims{2, 4, 64};
      fake->compressed = fake->multiplied = 0;
      require_product(product(x, weights(64, 48, !gemm, type), gemm), x, tolerance);
      CHECK((fake->compressed == 1 && fake->multiplied == 3));
    }
}

TEST_CASE("such a library is not given rows that lie where it cannot read them") {
  const Present fake;
  if (!fake) return skip(kPacked);
  Net net;
  Value* x = net.op("Cast", {net.input({1 + 8 * 64})}, {number("to", static_cast<int64_t>(DType::kF16))});
  x = net.op("Slice", {x, net.constant(Tensor::ints({1})), net.constant(Tensor::ints({1 + 8 * 64}))});
  x = net.op("Reshape", {x, net.constant(Tensor::ints({8, 64}))});
  x = net.op("MatMul", {x, net.constant(weights(64, 48, true, DType::kF16))});
  net.output(net.op("Cast", {x}, {number("to", 1)}));
  fake->multiplied = fake->misaligned = 0;
  require_product(net, {1 + 8 * 64}, 1e-2);
  CHECK((fake->multiplied == 0 && fake->misaligned == 0));
}

TEST_CASE("products that such a library does not take run as others do") {
  const Present fake;
  if (!fake) return skip(kPacked);
  const Tensor w = weights(64, 48, true, DType::kF16);
  require_product(product({8, 64}, weights(64, 48, true, DType::kF16, 1)), {8, 64}, 2e-2);  // too few zeros
  require_product(product({7, 64}, w), {7, 64}, 1e-2);
  CHECK((fake->compressed == 0 && fake->multiplied == 0));
  fake->refuses = true;
  require_product(product({8, 64}, w), {8, 64}, 1e-2);
  CHECK(fake->multiplied == 0);
  fake->refuses = false;
  ::setenv("MLOPT_GPU_WITHOUT", "cusparselt", 1);
  require_product(product({8, 64}, w), {8, 64}, 1e-2);
  ::unsetenv("MLOPT_GPU_WITHOUT");
  CHECK(fake->multiplied == 0);
  require_product(product({8, 64}, w), {8, 64}, 1e-2);
  CHECK(fake->multiplied == 3);
}

}  // namespace mlopt::test
