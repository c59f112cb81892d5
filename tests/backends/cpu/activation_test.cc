#include "backends/cpu/activation.h"

#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::cpu {
namespace {

float applied(const Activation& act, float x) {
  apply(act, &x, &x, 1);
  return x;
}

}  // namespace

TEST_CASE("activations have the defaults of their operators") {
  REQUIRE(applied(*activation_of("LeakyRelu"), -2) == Approx(-0.02));
  REQUIRE(applied(*activation_of("LeakyRelu", {0.5f}), -2) == Approx(-1));
  REQUIRE(applied(*activation_of("HardSigmoid"), 1) == Approx(0.7));
  REQUIRE(applied(*activation_of("HardSigmoid", {0.1f, 0.2f}), 1) == Approx(0.3));
  REQUIRE(applied(*activation_of("HardSwish"), 1) == Approx(2.0 / 3));
  REQUIRE(applied(*activation_of("Elu"), -1) == Approx(std::exp(-1.0) - 1));
  REQUIRE(applied(*activation_of("ThresholdedRelu"), 0.9f) == 0);
  REQUIRE(applied(*activation_of("QuickGelu"), 1) == Approx(1 / (1 + std::exp(-1.702))));
  REQUIRE(applied(*activation_of("Clip"), -1e30f) == -1e30f);
  REQUIRE(applied(*activation_of("Clip", {-1, 2}), 5) == 2);
}

TEST_CASE("what is no activation is declined by name") {
  const auto none = activation_of("Softmax");
  REQUIRE(!none);
  REQUIRE(none.error().reason.find("Softmax") != std::string::npos);
}

TEST_CASE("an activation gives the same wherever an element lies, on any number of threads, in place") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const char* op : {"Relu", "Sigmoid", "Tanh", "HardSwish", "Gelu", "Clip"}) {
    const Activation act = *activation_of(op);
    for (const int64_t count : {0, 1, 7, 8, 9, 33, 100003}) {
      Tensor x = test::uniform({count}, -4, 4);
      auto* in = x.mutable_data<float>();
      if (count > 5) in[5] = kNan;
      for (const int threads : {1, 3}) {
        const ThreadScope scope(threads);
        Tensor y(DType::kF32, {count});
        apply(act, in, y.mutable_data<float>(), count);
        INFO(op << " of " << count << " on " << threads);
        for (int64_t i = 0; i < count; i += 1 + count / 50)
          REQUIRE((y.data<float>()[i] == applied(act, in[i]) || (std::isnan(in[i]) && std::isnan(y.data<float>()[i]))));
        Tensor z = Tensor::of<float>({count}, {in, in + count});
        apply(act, z.data<float>(), z.mutable_data<float>(), count);
        REQUIRE(std::equal(z.raw(), z.raw() + z.bytes(), y.raw()));
      }
    }
  }
}

}  // namespace mlopt::cpu
