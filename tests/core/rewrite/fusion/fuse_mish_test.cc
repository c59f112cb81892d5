#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

TEST_CASE("a value times tanh of its softplus is Mish, however softplus is spelt") {
  CHECK(rewritten(fusion::fuse_mish,
                  "g (double[N] x) => (double[N] y) { s = Softplus (x)  t = Tanh (s)  y = Mul (x, t) }") == "Mish");
  CHECK(rewritten(fusion::fuse_mish, R"(g (double[N] x) => (double[N] y) <double one = {1}> {
    e = Exp (x)  a = Add (one, e)  s = Log (a)  t = Tanh (s)  y = Mul (t, x) })") == "Mish");
  CHECK(rewritten(fusion::fuse_mish, R"(g (double[N] x) => (double[N] y) <double limit = {20}> {
    p = Softplus (x)  c = Greater (x, limit)  s = Where (c, x, p)  t = Tanh (s)  y = Mul (t, x) })") == "Mish");
}

TEST_CASE("what only looks like Mish stays") {
  const char* plain = "g (double[N] x) => (double[N] y) { s = Softplus (x)  t = Tanh (s)  y = Mul (x, t) }";
  CHECK(declined(fusion::fuse_mish, plain, 17) == "Mish needs opset 18, of bfloat16 22");
  const char* brain = "g (bfloat16[N] x) => (bfloat16[N] y) { s = Softplus (x)  t = Tanh (s)  y = Mul (x, t) }";
  CHECK(declined(fusion::fuse_mish, brain, 21) == "Mish needs opset 18, of bfloat16 22");
  CHECK(declined(fusion::fuse_mish, R"(g (double[N] x, double[N] z) => (double[N] y) {
    s = Softplus (x)  t = Tanh (s)  y = Mul (z, t) })") == "two values are multiplied");
  CHECK(declined(fusion::fuse_mish, R"(g (double[N] x) => (double[N] y, double[N] t) {
    s = Softplus (x)  t = Tanh (s)  y = Mul (x, t) })") == "the result of Tanh giving 't' is used elsewhere too");
  CHECK(declined(fusion::fuse_mish, R"(g (double[N] x) => (double[N] y) <double two = {2}> {
    e = Exp (x)  a = Add (two, e)  s = Log (a)  t = Tanh (s)  y = Mul (t, x) })") == "another number than 1 is added");
  for (const std::string limit : {"2", "nan"})
    CHECK(declined(fusion::fuse_mish, "g (double[N] x) => (double[N] y) <double limit = {" + limit + R"(}> {
      p = Softplus (x)  c = Greater (x, limit)  s = Where (c, x, p)  t = Tanh (s)  y = Mul (t, x) })") ==
          "it is not softplus above a limit");
}

TEST_CASE("a constant that adds an axis stays") {
  CHECK(declined(fusion::fuse_mish, R"(g (double x) => (double[1] y) <double[1] one = {1}> {
    e = Exp (x)  a = Add (one, e)  s = Log (a)  t = Tanh (s)  y = Mul (t, x) })") == "another number than 1 is added");
}
