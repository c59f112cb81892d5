#include <algorithm>
#include <numeric>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {

TEST_CASE("axes are moved in every order") {
  for (const DType type : {DType::kF32, DType::kI32, DType::kU8}) {
    std::vector<int64_t> perm{0, 1, 2, 3};
    do {
      OpOptions options;
      options.attrs = {{"perm", perm, ""}};
      require_as_reference("Transpose", {uniform({2, 5, 1, 7}, 0, 100, type)}, options, 0);
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

TEST_CASE("without a permutation the axes are reversed") {
  require_as_reference("Transpose", {uniform({3, 4, 5}, -1, 1)}, {}, 0);
  require_as_reference("Transpose", {uniform({3}, -1, 1)}, {}, 0);
}

TEST_CASE("NaN, infinities and the bits of integers survive the move") {
  const double inf = std::numeric_limits<double>::infinity();
  require_as_reference("Transpose", {tensor({2, 3}, {inf, -inf, std::nan(""), -0.0, 1e-40, 3})}, {}, 0);
  require_as_reference("Transpose", {tensor({2, 2}, {2147483647, -2147483648.0, 16777217, 5}, DType::kI32)}, {}, 0);
}

TEST_CASE("elements of 64 and 128 bits are moved too") {
  for (const DType type : {DType::kF64, DType::kI64, DType::kC128})
    require_as_reference("Transpose", {uniform({3, 4, 5}, 0, 100, type)},
                         {.attrs = {{"perm", std::vector<int64_t>{2, 0, 1}, ""}}}, 0);
}

TEST_CASE("DepthToSpace and SpaceToDepth in every mode") {
  for (const DType type : {DType::kF32, DType::kF64, DType::kU8}) {
    for (const char* mode : {"DCR", "CRD"})
      require_as_reference("DepthToSpace", {uniform({2, 18, 4, 5}, 0, 100, type)},
                           {.attrs = {{"blocksize", int64_t{3}, ""}, {"mode", std::string(mode), ""}}}, 0);
    require_as_reference("SpaceToDepth", {uniform({2, 3, 4, 6}, 0, 100, type)},
                         {.attrs = {{"blocksize", int64_t{2}, ""}}}, 0);
  }
}

TEST_CASE("between convolutions and what wants their channels last, nothing is copied") {
  Net net;
  Value* x = net.conv(net.input({1, 3, 8, 6}), 3, 16);
  Value* tokens = net.op("Reshape", {x, net.constant(Tensor::ints({1, 16, -1}))});
  tokens = net.op("Softmax", {net.op("Transpose", {tokens}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}})});
  Value* back = net.op("Transpose", {tokens}, {{"perm", std::vector<int64_t>{0, 2, 1}, ""}});
  back = net.op("Reshape", {back, net.constant(Tensor::ints({1, 16, 8, 6}))});
  net.output(net.conv(back, 16, 4));
  require_same_result(net.model, 1e-4, true);
  CompileOptions options;
  options.profile = true;
  const auto plan = cpu_with_fallback()->compile(net.model, options);
  plan->run(std::vector<Datum>{uniform({1, 3, 8, 6}, -1, 1)});
  std::string ran;
  for (const StepProfile& step : plan->profile()) ran += step.op + " ";
  CHECK(ran == "Reorder Conv Softmax Conv Reorder ");
}

}  // namespace mlopt::test
