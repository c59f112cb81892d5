#include "core/calib/hessian.h"

#include <limits>

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("the factor's square is the inverse of the Hessian") {
  Dense x = Dense::Random(20, 6);
  Dense h = x.transpose() * x;
  h.diagonal().array() += 0.1;
  const Dense u = inverse_factor(h);
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t c = 0; c < r; ++c) CHECK(u(r, c) == 0);
  const Dense product = u.transpose() * u * h;
  CHECK((product - Dense::Identity(6, 6)).cwiseAbs().maxCoeff() < 1e-10);
}

TEST_CASE("a hundredth of the mean diagonal is added, and inputs that are always 0 have an inverse too") {
  Observed seen;
  seen.products = {std::vector<float>{2, 1, 1, 4}, std::vector<float>(4)};
  const Dense h = damped_hessian(seen, 0, 2);
  CHECK(h(0, 0) == Approx(2.03));
  CHECK(h(0, 1) == 1);
  CHECK(h(1, 1) == Approx(4.03));
  CHECK(damped_hessian(seen, 1, 2) == Dense::Identity(2, 2));
  const Dense turned = damped_hessian(seen, 0, 2, std::vector<int64_t>{1, 0});
  CHECK(turned(0, 0) == h(1, 1));
  CHECK(turned(1, 0) == h(0, 1));
}

TEST_CASE("inputs whose squares float32 cannot hold count as not seen") {
  Observed seen;
  const float tiny = 1e-44f, huge = std::numeric_limits<float>::infinity();
  seen.products = {std::vector<float>{tiny, tiny, tiny, tiny}, std::vector<float>{huge, huge, huge, huge}};
  for (const int64_t group : {0, 1}) {
    CHECK(damped_hessian(seen, group, 2) == Dense::Identity(2, 2));
    CHECK(damping(seen, group, 2) == 1);
    CHECK_NOTHROW(inverse_factor(damped_hessian(seen, group, 2)));
  }
}
