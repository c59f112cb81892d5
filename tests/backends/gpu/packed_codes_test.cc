#include "backends/gpu/packed_codes.h"

#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {
namespace {

constexpr DType kI8 = DType::kI8, kU8 = DType::kU8;

Tensor codes(Dims dims, DType type, uint64_t seed) {
  return type == kU8 ? uniform(std::move(dims), 0, 256, type, seed) : uniform(std::move(dims), -128, 128, type, seed);
}

Tensor middle(DType type, int64_t count = 1) {
  return tensor({count}, std::vector<double>(static_cast<size_t>(count), type == kU8 ? 128 : 0), type);
}

/// How the node runs where all but its first input are constant.
std::string kernel_of(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options = {}) {
  const auto plan = gpu_on_host()->compile(one_node(op, inputs, options, 1), {});
  return plan->plan_info(std::vector<Datum>{inputs[0]})->steps.back().kernel;
}

}  // namespace

TEST_CASE("weights of codes are packed signed, in rows of 16, with their sums") {
  const Tensor weights = tensor({3, 2}, {0, 1, 127, 128, 129, 255}, kU8);
  gpu::PackedCodes packed(weights, 2, 3, true);
  REQUIRE((packed.rows == 16 && packed.pitch == 16));
  gpu::WorkQueue queue({&gpu::gpu_interface(), 0});
  const auto* rows = reinterpret_cast<const int8_t*>(packed.codes(queue));
  CHECK(std::vector<int>(rows, rows + 4) == std::vector<int>{-128, -1, 1, 0});
  CHECK(std::vector<int>(rows + 16, rows + 20) == std::vector<int>{-127, 0, 127, 0});
  const int32_t* sums = packed.sums(queue);
  CHECK(std::vector<int>(sums, sums + 3) == std::vector<int>{-128, 0, 0});
}

TEST_CASE("products with packed codes on a GPU are exact") {
  for (const DType a : {kU8, kI8})
    for (const DType b : {kU8, kI8})
      for (const int64_t k : {48, 37}) {
        const Tensor left = codes({2, 7, k}, a, 1), right = codes({k, 21}, b, 2);
        const Tensor a_zero = tensor({}, {a == kU8 ? 3.0 : -100.0}, a);
        const std::vector<Datum> inputs{left, right, a_zero, middle(b, 21)};
        CHECK(kernel_of("MatMulInteger", inputs) == "cublas int8");
        require_on_gpu("MatMulInteger", inputs, {}, 0);
        require_on_gpu("QLinearMatMul",
                       {left, tensor({}, {0.02}), a_zero, right, uniform({21}, 0.001, 0.01), middle(b, 21),
                        tensor({}, {0.4}), tensor({}, {b == kU8 ? 90.0 : 9.0}, b)},
                       {}, 0);
      }
  const OpOptions microsoft{.domain = "com.microsoft"};
  require_on_gpu("MatMulIntegerToFloat",
                 {codes({5, 40}, kU8, 1), codes({40, 16}, kI8, 2), tensor({}, {0.02}), uniform({16}, 0.001, 0.01),
                  tensor({}, {77}, kU8), middle(kI8, 16), uniform({16}, -1, 1)},
                 microsoft);
  const std::vector<Datum> dynamic{uniform({5, 40}, -3, 2), codes({40, 16}, kI8, 2), uniform({16}, 0.001, 0.01)};
  CHECK(kernel_of("DynamicQuantizeMatMul", dynamic, microsoft) == "cublas int8");
  require_on_gpu("DynamicQuantizeMatMul", dynamic, microsoft);
}

TEST_CASE("convolutions with packed codes on a GPU are exact") {
  const std::vector<Attr> attrs{attr("pads", std::vector<int64_t>{1, 2, 0, 1}), attr("group", 2)};
  for (const DType type : {kU8, kI8}) {
    const Tensor x = codes({3, 10, 9, 8}, type, 1), zero = tensor({}, {9}, type);
    for (const DType w_type : {kU8, kI8}) {
      const Tensor w = codes({34, 5, 3, 2}, w_type, 2);
      CHECK(kernel_of("ConvInteger", {x, w, zero, middle(w_type)}, {.attrs = attrs}) == "columns, cublas int8");
      require_on_gpu("ConvInteger", {x, w, zero, middle(w_type)}, {.attrs = attrs}, 0);
      std::vector<Datum> inputs{x,
                                tensor({}, {0.02}),
                                zero,
                                w,
                                uniform({34}, 0.001, 0.01),
                                middle(w_type, 34),
                                tensor({}, {0.05}),
                                tensor({}, {100}, type),
                                uniform({34}, -2000, 2000, DType::kI32)};
      require_on_gpu("QLinearConv", inputs, {.attrs = attrs}, 0);
    }
  }
  require_on_gpu("ConvInteger", {codes({1, 20, 6, 6}, kU8, 1), codes({16, 20, 3, 3}, kI8, 2)}, {}, 0);
}

TEST_CASE("codes that cannot be packed run as they lie on a GPU") {
  const Tensor left = codes({4, 32}, kU8, 1), right = codes({32, 16}, kI8, 2), zero = tensor({}, {5}, kU8);
  CHECK(kernel_of("MatMulInteger", {left, right, zero}) == "cublas int8");
  CHECK(kernel_of("MatMulInteger", {left, right, zero, tensor({}, {1}, kI8)}) == "integer");
  CHECK(kernel_of("MatMulInteger", {left, codes({32, 16}, kU8, 2), zero}) == "integer");
  CHECK(kernel_of("MatMulInteger", {left, right, tensor({4}, {1, 2, 3, 4}, kU8)}) == "integer");
  CHECK(kernel_of("MatMulInteger", {codes({2, 4, 32}, kU8, 1), codes({2, 32, 16}, kI8, 2), zero}) == "integer");
  CHECK(kernel_of("MatMulInteger", {left, codes({32, 8}, kI8, 2), zero}) == "integer");
}

}  // namespace mlopt::test
