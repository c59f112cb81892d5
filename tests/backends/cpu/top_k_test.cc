#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

void require_top(const Tensor& x, int64_t axis, double k) {
  for (const int64_t largest : {0, 1}) {
    INFO(to_string(x.dims()) << ", axis " << axis << ", k " << k << (largest != 0 ? ", largest" : ", smallest"));
    require_as_reference("TopK", {x, tensor({1}, {k}, DType::kI64)},
                         {.attrs = {{"axis", axis, ""}, {"largest", largest, ""}}, .outputs = 2, .fixed = true}, 0);
  }
}

}  // namespace

TEST_CASE("the first of each line, equal ones in the order of their places") {
  Tensor few = uniform({3, 40, 7}, 0, 9);
  for (int64_t i = 0; i < few.size(); ++i) few.mutable_data<float>()[i] = std::floor(few.data<float>()[i]) - 4;
  for (const int64_t axis : {0, 1, 2, -1})
    for (const double k : {1.0, 2.0, 3.0}) require_top(few, axis, k);
  require_top(few, 1, 40);
}

TEST_CASE("long lines, which are sifted on the way") {
  for (const double k : {1.0, 100.0, 700.0, 20000.0}) require_top(uniform({2, 20000}, -1, 1), 1, k);
  Tensor rising = uniform({5000}, -1, 1);
  for (int64_t i = 0; i < rising.size(); ++i) rising.mutable_data<float>()[i] = static_cast<float>(i);
  require_top(rising, 0, 30);
}

TEST_CASE("NaN is above all, zeros are equal") {
  require_top(tensor({9}, {0.0, -0.0, NAN, INFINITY, -INFINITY, 1, -NAN, 0.0, -1}), 0, 9);
}

TEST_CASE("a k that only the run tells, and one that is refused then") {
  const Tensor x = uniform({2, 9, 5}, -1, 1);
  for (const double k : {1.0, 3.0, 9.0})
    require_as_reference("TopK", {x, tensor({1}, {k}, DType::kI64)},
                         {.attrs = {{"axis", int64_t{1}, ""}}, .outputs = 2}, 0);
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  for (const double k : {-1.0, 6.0})
    CHECK(error_of("TopK", {x, tensor({1}, {k}, DType::kI64)}, {.outputs = 2, .backend = cpu.get()})
              .find("on an axis of 5 elements") != std::string::npos);
}

}  // namespace mlopt::test
