#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/net.h"

namespace mlopt::test {
namespace {

bool product_is_by_rows(const Dims& a, const Dims& b) {
  Net net;
  Value* left = net.input(a);
  Value* right = net.graph().add_input("column", Type::tensor(DType::kF32, b));
  net.output(net.op("MatMul", {left, right}));
  return steps_by(net.model, "rows") > 0;
}

}  // namespace

TEST_CASE("rows times one column, with batches and an activation") {
  for (const Dims& a : {Dims{3, 70}, Dims{500, 70}, Dims{2, 3, 40, 70}, Dims{70}})
    for (const Dims& b : {Dims{70, 1}, Dims{70}, Dims{1, 70, 1}}) {
      INFO(to_string(a) << " times " << to_string(b));
      require_as_reference("MatMul", {uniform(a, -1, 1, DType::kF32, 1), uniform(b, -1, 1, DType::kF32, 2)}, {}, 1e-5);
    }
  const std::vector<Attr> attrs{
      {"alpha", 0.5f, ""}, {"transB", int64_t{1}, ""}, {"activation", std::string("Tanh"), ""}};
  require_as_reference("FusedGemm", {uniform({9, 70}, -1, 1), uniform({1, 70}, -1, 1)},
                       {.attrs = attrs, .domain = "com.microsoft"}, 1e-5);
}

TEST_CASE("rows are read as they lie where there is one column for all of them") {
  CHECK(product_is_by_rows({500, 70}, {70, 1}));
  CHECK_FALSE(product_is_by_rows({500, 70}, {70, 2}));
  CHECK_FALSE(product_is_by_rows({2, 500, 70}, {2, 70, 1}));
}

}  // namespace mlopt::test
