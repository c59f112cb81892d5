#include "core/base/parallel.h"
#include "core/calib/hessian.h"
#include "tests/support/catch.h"

using namespace mlopt;

namespace {

/// Products of correlated columns.
Dense hessian(int64_t size) {
  std::srand(7);
  const Dense x = Dense::Random(size + 20, size);
  Dense h = x.transpose() * x;
  h.diagonal().array() += 1;
  return h;
}

}  // namespace

TEST_CASE("of a matrix of several blocks and a rest the factor is upper, and its square the inverse") {
  for (const int64_t size : {1, 255, 257, 900}) {
    const Dense h = hessian(size), u = inverse_factor(h);
    CHECK(Dense(u.triangularView<Eigen::StrictlyLower>()).cwiseAbs().maxCoeff() == 0);
    CHECK((u * h * u.transpose() - Dense::Identity(size, size)).cwiseAbs().maxCoeff() < 1e-10);
  }
}

TEST_CASE("the factor is the same on any number of threads") {
  const Dense h = hessian(700);
  Dense one, three;
  with_threads(1, [&] { one = inverse_factor(h); });
  with_threads(3, [&] { three = inverse_factor(h); });
  CHECK(one == three);
}
