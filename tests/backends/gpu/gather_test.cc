#include "core/base/error.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"

namespace mlopt::test {

TEST_CASE("Gather on a GPU") {
  const Tensor x = counting({4, 5, 6}), indices = tensor({2, 3}, {0, 3, -1, 2, -4, 1}, DType::kI64);
  for (const int axis : {0, 1, 2}) require_on_gpu("Gather", {x, indices}, {.attrs = {attr("axis", axis)}}, 0);
  require_on_gpu("Gather", {counting({7}, DType::kI64), tensor({}, {3}, DType::kI32)}, {}, 0);
}

TEST_CASE("single elements and tuples of places on a GPU") {
  const Tensor x = counting({3, 4, 5}), places = tensor({2, 4, 3}, {0, 1, 2, -1, 0, 2, 1, 1, 1, 0, 2, -3,  //
                                                                    2, 2, 0, 1,  0, 2, 1, 0, 1, 0, 2, 1},
                                                        DType::kI64);
  for (const int axis : {0, 1, 2}) require_on_gpu("GatherElements", {x, places}, {.attrs = {attr("axis", axis)}}, 0);
  require_on_gpu("GatherElements", {counting({4}, DType::kI8), tensor({3}, {3, -4, 1}, DType::kI32)}, {}, 0);
  const Tensor pairs = tensor({3, 2, 2}, {0, 1, 2, -1, 1, 3, 0, 0, 2, 2, -3, -4}, DType::kI64);
  require_on_gpu("GatherND", {x, pairs}, {}, 0);
  require_on_gpu("GatherND", {x, tensor({3, 2}, {0, 1, -1, 4, 3, 0}, DType::kI64)}, {.attrs = {attr("batch_dims", 1)}},
                 0);
  require_on_gpu("GatherND", {x, tensor({2, 3}, {0, 1, 4, 2, 3, 0}, DType::kI64)}, {}, 0);
}

TEST_CASE("places outside of their axis are errors on a GPU that name the node") {
  const Tensor x = counting({3, 4}), good = tensor({2}, {1, 2}, DType::kI64), bad = tensor({2}, {-4, 0}, DType::kI64);
  for (const char* op : {"Gather", "GatherND"}) {
    INFO(op);
    const OpOptions options{.attrs =
                                op == std::string_view("Gather") ? std::vector{attr("axis", 0)} : std::vector<Attr>()};
    const auto plan = gpu_on_host()->compile(one_node(op, {x, good}, options, 2), {});
    for (int time = 0; time < 3; ++time) {
      CHECK(plan->run(std::vector<Datum>{x, good}).size() == 1);
      try {
        plan->run(std::vector<Datum>{x, bad});
        FAIL("it was not refused");
      } catch (const Error& e) {
        CHECK(e.code == Code::kBadInput);
        CHECK(e.message == "index -4 is outside an axis of 3 elements");
        CHECK(e.where.find(op) != std::string::npos);
      }
    }
  }
  const Tensor one = tensor({2, 4}, {0, 1, 2, 3, 0, 1, 9, 0}, DType::kI64);
  const std::vector<Datum> inputs{counting({3, 4}), one, counting({2, 4})};
  const auto plan = gpu_on_host()->compile(one_node("ScatterElements", inputs, {}, 3), {});
  CHECK_THROWS_AS(plan->run(inputs), Error);
}

TEST_CASE("more indices than there are elements beside them are errors on a GPU") {
  const Tensor x = counting({2, 3}), places = Tensor::zeros(DType::kI64, {2, 4});
  for (const std::vector<Datum>& inputs : {std::vector<Datum>{x, places}, {x, places, counting({2, 4})}}) {
    const char* op = inputs.size() == 2 ? "GatherElements" : "ScatterElements";
    INFO(op);
    CHECK_THROWS_AS(gpu_on_host()->compile(one_node(op, inputs, {}, inputs.size()), {})->run(inputs), Error);
  }
}

TEST_CASE("casts on a GPU") {
  const Tensor x = tensor({7}, {-1.5, 0, 0.4, 1.5, 2.5, 100, -3});
  for (const DType to : {DType::kF16, DType::kBF16, DType::kI8, DType::kI32, DType::kI64, DType::kBool})
    require_on_gpu("Cast", {x}, {.attrs = {attr("to", static_cast<int>(to))}}, 0);
  for (const DType from : {DType::kBool, DType::kU8, DType::kI32, DType::kI64, DType::kF16})
    require_on_gpu("Cast", {counting({5}, from)}, {.attrs = {attr("to", 1)}}, 0);
  require_on_gpu("Cast", {tensor({5}, {1e19, 1.8e19, 1e20, -5, NAN})},
                 {.attrs = {attr("to", static_cast<int>(DType::kU64))}}, 0);
  require_on_gpu("CastLike", {x, tensor({1}, {1}, DType::kF16)}, {}, 0);
}

TEST_CASE("Pad on a GPU") {
  const auto pad = [](std::vector<int64_t> pads, Datum value) {
    require_on_gpu("Pad", {counting({3, 4, 2}), Tensor::ints(pads), std::move(value)}, {.fixed = true}, 0);
  };
  pad({0, 1, 2, 3, 0, 1}, {});
  pad({1, -1, 0, 0, 2, 1}, tensor({}, {7}));
}

TEST_CASE("Pad by what the input continues with on a GPU") {
  for (const char* mode : {"edge", "reflect", "wrap"}) {
    const OpOptions options{.attrs = {attr("mode", mode)}, .fixed = true};
    require_on_gpu("Pad", {counting({3, 4, 2}), Tensor::ints({0, 1, 2, 3, 0, 1})}, options, 0);
    require_on_gpu("Pad", {counting({3, 4, 2}), Tensor::ints({1, -1, 0, 2, 9, -1})}, options, 0);
    require_on_gpu("Pad", {counting({1, 4}), Tensor::ints({2, 1, 3, 0})}, options, 0);
    require_on_gpu("Pad", {counting({3, 4, 2}), Tensor::ints({1, 2}), Datum(), Tensor::ints({-2})}, options, 0);
  }
  require_on_gpu("Pad", {counting({3, 4, 2}), Tensor::ints({1, 2}), Datum(), Tensor::ints({1})}, {.fixed = true}, 0);
}

TEST_CASE("reshapes on a GPU are views") {
  require_on_gpu("Reshape", {counting({3, 4}), Tensor::ints({2, -1})}, {.fixed = true}, 0);
  require_on_gpu("Flatten", {counting({3, 4, 2})}, {}, 0);
  require_on_gpu("Dropout", {counting({3, 4})}, {}, 0);
  require_on_gpu("Unsqueeze", {counting({3, 4}), Tensor::ints({1})}, {.fixed = true}, 0);
}

}  // namespace mlopt::test
