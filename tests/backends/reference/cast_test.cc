#include <cmath>
#include <limits>

#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

OpOptions to(DType type) { return {{attr("to", static_cast<int>(type))}}; }

TEST_CASE("Cast converts between numbers and strings", "[reference]") {
  check_cases({
      {"Cast", {tensor({3}, {-1.9, 2.7, 300})}, to(DType::kI32), {tensor({3}, {-1, 2, 300}, DType::kI32)}},
      {"Cast", {tensor({2}, {200, -56}, DType::kI16)}, to(DType::kI8), {tensor({2}, {-56, -56}, DType::kI8)}},
      {"Cast", {tensor({3}, {0, -0.0, 0.1})}, to(DType::kBool), {tensor({3}, {0, 0, 1}, DType::kBool)}},
      {"Cast", {Tensor::of_strings({3}, {"3.5", "1e2", "-7"})}, to(DType::kF32), {tensor({3}, {3.5, 100, -7})}},
      {"Cast", {tensor({2}, {1, -2}, DType::kI64)}, to(DType::kString), {Tensor::of_strings({2}, {"1", "-2"})}},
      {"Cast", {tensor({4}, {-8, 7, 1, -1})}, to(DType::kI4), {tensor({4}, {-8, 7, 1, -1}, DType::kI4)}},
  });
  check_cases({{"Cast", {tensor({1}, {1.5})}, {{attr("to", "DOUBLE")}, 1}, {tensor({1}, {1.5}, DType::kF64)}}});
  check_errors({
      {"Cast", {tensor({1}, {1})}, {{attr("to", "TRIPLE")}, 1}, "not a known element type"},
      {"Cast", {tensor({1}, {1})}, {{attr("to", 99)}}, "not a known element type"},
      {"Cast", {Tensor::of_strings({1}, {"x"})}, to(DType::kF32), "not a number"},
  });
}

TEST_CASE("Cast to float8 saturates unless told not to", "[reference]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x = tensor({3}, {1000, -inf, 1.0625});
  const auto plain = [](DType type) { return OpOptions{{attr("to", static_cast<int>(type)), attr("saturate", 0)}}; };
  const Tensor saturated = run_op("Cast", {x}, to(DType::kF8E4M3FN));
  require_close(run_op("Cast", {saturated}, to(DType::kF32)), tensor({3}, {448, -448, 1}));
  const Tensor wide = run_op("Cast", {x}, plain(DType::kF8E4M3FN));
  require_close(run_op("Cast", {wide}, to(DType::kF32)), tensor({3}, {nan, nan, 1}));
  const Tensor ieee = run_op("Cast", {tensor({2}, {1e6, -inf})}, plain(DType::kF8E5M2));
  require_close(run_op("Cast", {ieee}, to(DType::kF32)), tensor({2}, {inf, -inf}));
}

TEST_CASE("Cast to float8e8m0 rounds as asked", "[reference]") {
  const Tensor x = tensor({4}, {1, 1.1, 1.5, 2});
  const auto mode = [](const char* name) {
    return OpOptions{{attr("to", static_cast<int>(DType::kF8E8M0)), attr("round_mode", name)}};
  };
  const auto rounded = [&](const char* name) {
    return run_op("Cast", {run_op("Cast", {x}, mode(name))}, to(DType::kF32));
  };
  require_close(rounded("up"), tensor({4}, {1, 2, 2, 2}));
  require_close(rounded("down"), tensor({4}, {1, 1, 1, 2}));
  require_close(rounded("nearest"), tensor({4}, {1, 1, 2, 2}));
  REQUIRE(error_of("Cast", {x}, mode("sideways")).find("round_mode") != std::string::npos);
}

TEST_CASE("CastLike and BitCast", "[reference]") {
  const OpOptions bits{{attr("to", static_cast<int>(DType::kU32))}, 26};
  check_cases({
      {"CastLike", {tensor({2}, {1.5, -2}), tensor({0}, {}, DType::kI64)}, {}, {Tensor::ints({1, -2})}},
      {"BitCast", {tensor({2}, {1, -2})}, bits, {tensor({2}, {1065353216, 3221225472}, DType::kU32)}},
  });
  check_errors({{"BitCast", {tensor({1}, {1}, DType::kF64)}, bits, "same number of bits"}});
}

}  // namespace
}  // namespace mlopt::test
