#include "core/tensor/dim.h"

#include "core/tensor/dim_product.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

const Dim N = Dim::symbol("N"), H = Dim::symbol("H");

}  // namespace

TEST_CASE("dimensions are polynomials in their symbols") {
  CHECK((N * 2 + 1).str() == "2*N+1");
  CHECK((N * H - H).str() == "H*N-H");
  CHECK((N - N).is(0));
  CHECK((N - N).value() == 0);
  CHECK((N + 1) * (N - 1) == N * N - 1);
  CHECK(H * N == N * H);
  CHECK_FALSE(N == H);
  CHECK(N.symbol_name() == "N");
  CHECK_FALSE((N * 2).symbol_name());
  CHECK_FALSE((N + 1).symbol_name());
  CHECK(to_string(SymDims{N, 3, Dim()}) == "[N,3,?]");
}

TEST_CASE("what is unknown equals nothing, and stays unknown unless it does not matter") {
  const Dim unknown;
  CHECK_FALSE(unknown == unknown);
  CHECK_FALSE((unknown + 1).known());
  CHECK((unknown * 0).is(0));
  CHECK_FALSE(unknown.value());
  CHECK(unknown.str() == "?");
}

TEST_CASE("division is exact, or floors, or is left as it is") {
  CHECK(Dim::divide(N * 6 + H * N * 4, N * 2) == Dim(3) + H * 2);
  CHECK_FALSE(Dim::divide(N * 3, 2));
  CHECK_FALSE(Dim::divide(N, 0));
  CHECK_FALSE(Dim::divide(N, H + 1));
  CHECK(Dim::divide(N + H, N + H) == Dim(1));
  CHECK(Dim::divide((N + H) * N * 64, (H + N) * 16) == N * 4);
  CHECK(Dim::divide((N + H) * (N - H + 1), N + H) == N - H + 1);
  CHECK(Dim::divide((N * H + 2) * (N * N - H), N * N - H) == N * H + 2);
  CHECK_FALSE(Dim::divide((N + H) * N, N + H + 1));
  CHECK_FALSE(Dim::divide((N + H) * 3, N * 2 + H * 2));
  CHECK_FALSE(Dim::divide(N * N + H * H, N + H));
  CHECK(Dim::floor_divide(7, 2).is(3));
  CHECK(Dim::floor_divide(-7, 2).is(-4));
  CHECK(Dim::floor_divide(N * 4, 2) == N * 2);
  CHECK(Dim::floor_divide(N + 1, 2).str() == "(N+1)//2");
  CHECK(Dim::floor_divide(N + 1, 2) == Dim::floor_divide(Dim(1) + N, 2));
  CHECK_FALSE(Dim::floor_divide(N, 0).known());
  CHECK_FALSE(Dim::floor_divide(N, H).known());
}

TEST_CASE("the primitive part is what the largest common factor of the coefficients leaves") {
  CHECK((N * 4 - H * 6).primitive_part() == N * 2 - H * 3);
  CHECK((N * -4 + 8).primitive_part() == Dim(2) - N);
  CHECK((N + 4).primitive_part() == N + 4);
  CHECK(Dim(0).primitive_part().is(0));
  CHECK((N * INT64_MIN).primitive_part() == N * INT64_MIN);
  CHECK_FALSE(Dim().primitive_part().known());
}

TEST_CASE("numbers that do not fit and expressions that grow become unknown") {
  CHECK_FALSE((Dim(INT64_MAX) + 1).known());
  CHECK_FALSE((N * INT64_MAX * 2).known());
  CHECK_FALSE((Dim(INT64_MIN) * -1).known());
  CHECK_FALSE(Dim::divide(Dim(INT64_MIN), -1).has_value());
  CHECK_FALSE(Dim::floor_divide(Dim(INT64_MIN), -1).known());
  Dim sum = 0;
  for (int i = 0; i < 40; ++i) sum = sum + Dim::symbol("s" + std::to_string(i));
  CHECK_FALSE(sum.known());
  Dim square = N, half = N;
  for (int i = 0; i < 40; ++i) {
    square = square * square;
    half = Dim::floor_divide(half * half + half, 2);
  }
  CHECK_FALSE(square.known());
  CHECK_FALSE(half.known());
}

TEST_CASE("axes of these lengths have so many elements") {
  const Dim n = Dim::symbol("N");
  CHECK(product(SymDims{}).is(1));
  CHECK(product(SymDims{2, n, 3}) == 6 * n);
  CHECK_FALSE(product(SymDims{2, Dim()}).known());
}
