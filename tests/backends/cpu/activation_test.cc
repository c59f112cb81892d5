#include "backends/cpu/activation.h"

#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/targets.h"

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
        Tensor y(DType::kF32, {count});
        with_threads(threads, [&] { apply(act, in, y.mutable_data<float>(), count); });
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

TEST_CASE("limits are numbers") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(limits_of({Fn::kClip, -1, 2})->high == 2);
  REQUIRE(limits_of(*activation_of("Relu"))->low == 0);
  REQUIRE(!limits_of({Fn::kClip, kNan, 2}));
  REQUIRE(!limits_of({Fn::kClip, 0, kNan}));
  REQUIRE(!limits_of(*activation_of("Sigmoid")));
}

TEST_CASE("exponentials and what is made of them are exact to rounding, at the ends of their range too") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  for (const int64_t target : test::targets()) {
    const test::TargetScope scope(target);
    for (double x = -110; x <= 110; x += 0.0371) {
      const auto f = static_cast<float>(x);
      INFO(f << ", target " << target);
      if (x < 88.7)
        REQUIRE(applied(*activation_of("Exp"), f) == Approx(std::exp(double{f})).epsilon(2e-7).margin(1e-44));
      REQUIRE(applied(*activation_of("Sigmoid"), f) == Approx(logistic(f)).epsilon(1e-5).margin(1e-38));
      REQUIRE(applied(*activation_of("Swish"), f) == Approx(f * logistic(f)).epsilon(1e-5).margin(1e-36));
      REQUIRE(applied(*activation_of("Erf"), f / 20) == Approx(std::erf(double{f / 20})).epsilon(4e-7));
    }
    REQUIRE(applied(*activation_of("Exp"), 89) == kInfinity);
    REQUIRE(applied(*activation_of("Exp"), -kInfinity) == 0);
    REQUIRE(applied(*activation_of("Sigmoid"), -kInfinity) == 0);
    REQUIRE(applied(*activation_of("Sigmoid"), kInfinity) == 1);
    REQUIRE(applied(*activation_of("Swish"), kInfinity) == kInfinity);
    REQUIRE(std::isnan(applied(*activation_of("Swish"), -kInfinity)));  // as the product of its parts
    for (const char* op : {"Exp", "Sigmoid", "Swish", "Erf"}) REQUIRE(std::isnan(applied(*activation_of(op), kNan)));
  }
}

}  // namespace mlopt::cpu
