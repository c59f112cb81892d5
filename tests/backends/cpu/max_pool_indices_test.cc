#include <cmath>

#include "backends/cpu/backend.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"
#include "tests/support/targets.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Case {
  Dims x;
  Ints kernel, strides, dilations, pads;
  int64_t ceil = 0;
};

// Rows of fewer windows than a vector has lanes and of many, windows that reach over either end, over both, and over
// all of the input; some lie in the padding only.
const Case kCases[] = {
    {{2, 3, 12, 44}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{1, 2, 7, 39}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1},
    {{2, 2, 7, 38}, {2, 2}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{1, 2, 6, 9}, {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
    {{2, 3, 9, 35}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
    {{2, 3, 9, 31}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{1, 2, 14, 60}, {3, 2}, {1, 3}, {2, 3}, {2, 0, 2, 1}},
    {{1, 2, 6, 30}, {2, 2}, {2, 2}, {2, 2}, {1, 1, 0, 1}},
    {{1, 2, 8, 9}, {3, 3}, {2, 3}, {1, 1}, {0, 1, 1, 0}, 1},
    {{1, 2, 5, 5}, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}},
    {{2, 1, 3, 26}, {2, 2}, {1, 1}, {1, 1}, {3, 3, 3, 3}},
    {{3, 2, 50}, {4}, {3}, {1}, {1, 2}, 1},
    {{2, 3, 64}, {2}, {2}, {1}, {0, 0}},
    {{2, 3, 5, 6, 23}, {2, 3, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 0, 1, 1, 0}},
    {{1, 2, 6, 5, 19}, {2, 2, 3}, {2, 1, 1}, {1, 2, 1}, {0, 0, 0, 0, 0, 0}},
};

OpOptions options_of(const Case& c, int64_t storage_order = 0) {
  return {.attrs = {{"kernel_shape", c.kernel, ""},
                    {"strides", c.strides, ""},
                    {"dilations", c.dilations, ""},
                    {"pads", c.pads, ""},
                    {"ceil_mode", c.ceil, ""},
                    {"storage_order", storage_order, ""}},
          .outputs = 2};
}

/// In either storage order and with every instruction set.
void require_pooled(const Case& c, const Tensor& x) {
  for (const int64_t order : {0, 1})
    for (const int64_t target : targets()) {
      INFO(to_string(c.x) << ", storage order " << order << ", target " << target);
      const TargetScope scope(target);
      require_as_reference("MaxPool", {x}, options_of(c, order), 0);
    }
}

/// The text of the Error when no other kernel runs what the CPU's decline.
std::string declined(const Tensor& x, const OpOptions& how) {
  const std::unique_ptr<Backend> cpu = cpu_backend({}, standard_types);
  OpOptions options = how;
  options.backend = cpu.get();
  return error_of("MaxPool", {x}, options);
}

}  // namespace

TEST_CASE("the maxima and where they are") {
  for (const Case& c : kCases) require_pooled(c, uniform(c.x, -9, -1));
}

TEST_CASE("the first of equals, zeros of either sign among them") {
  for (const Case& c : kCases) {
    Tensor x = uniform(c.x, -2, 2);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = std::trunc(x.data<float>()[i]);
    require_pooled(c, x);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = -INFINITY;
    require_pooled(c, x);
  }
}

TEST_CASE("the first NaN under a window is its maximum") {
  for (const Case& c : kCases)
    for (const double share : {0.05, 0.5}) {
      Tensor x = uniform(c.x, -1, 1);
      const Tensor draw = uniform(c.x, 0, 1, DType::kF32, 2);
      for (int64_t i = 0; i < x.size(); ++i)
        if (draw.data<float>()[i] < share) x.mutable_data<float>()[i] = i % 2 == 0 ? NAN : INFINITY;
      require_pooled(c, x);
    }
}

TEST_CASE("automatic padding, and planes enough for several threads") {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"})
    require_as_reference(
        "MaxPool", {uniform({2, 40, 33, 34}, -1, 1)},
        {.attrs = {{"kernel_shape", Ints{2, 2}, ""}, {"strides", Ints{2, 2}, ""}, {"auto_pad", std::string(mode), ""}},
         .outputs = 2},
        0);
}

TEST_CASE("no planes") { require_as_reference("MaxPool", {uniform({0, 3, 8, 8}, 0, 1)}, options_of(kCases[0]), 0); }

TEST_CASE("other types and more axes are for other kernels") {
  const OpOptions how = options_of(kCases[0]);
  CHECK(declined(uniform({1, 1, 4, 4}, 0, 9, DType::kU8), how).find("MaxPool") != std::string::npos);
  CHECK(declined(uniform({1, 1, 4, 4}, 0, 9, DType::kF64), how).find("MaxPool") != std::string::npos);
  CHECK(declined(uniform({1, 1, 2, 2, 2, 2}, 0, 9), {.attrs = {{"kernel_shape", Ints{2, 2, 2, 2}, ""}}, .outputs = 2})
            .find("MaxPool") != std::string::npos);
}

}  // namespace mlopt::test
