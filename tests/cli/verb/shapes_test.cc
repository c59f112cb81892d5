#include "cli/verb/verb.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

/// The error of the verification of `result` against `source` on generated data; empty where there is none.
std::string objection(const std::string& source, const std::string& result) {
  cli::Session session{{}, Console(false, false), {}};
  session.common.threads = 1;
  session.common.device = "reference";
  const Model before = test::fixture(source), after = test::fixture(result);
  cli::Plans plans(before, after, session, true);
  try {
    cli::verify_result({}, before, after, {}, plans, session);
  } catch (const Error& e) {
    CHECK(e.code == Code::kInternal);
    return e.message + ": " + e.where;
  }
  return {};
}

}  // namespace

TEST_CASE("an output of another shape, where the inputs' shapes decide it, is a bug, of which nothing is left") {
  const std::string turned = "g (float[N,3] x) => (float[A,B] y) ";
  CHECK(objection(turned + "{ y = Transpose <perm = [1, 0]> (x) }", turned + "{ y = Identity (x) }") ==
        "output 'y' of the result is not of the source's shape: shapes 3x2 and 2x3");
  CHECK(objection(turned + "{ y = Transpose <perm = [1, 0]> (x) }", turned + "{ y = Transpose (x) }").empty());
}

TEST_CASE("an output whose shape depends on what the inputs hold may have another") {
  const std::string found = "g (float[N,3] x) => (int64[2,M] y) <float zero = {0}, float one = {1}> ";
  const auto above = [&](const char* limit) { return found + "{ b = Greater (x, " + limit + ")  y = NonZero (b) }"; };
  CHECK(objection(above("zero"), above("one")).empty());
}

TEST_CASE("texts that differ are no other shape") {
  const std::string texts = "g (float[N,3] x) => (string[N,3] y) ";
  CHECK(objection(texts + "{ y = Cast <to = 8> (x) }", texts + "{ n = Neg (x)  y = Cast <to = 8> (n) }").empty());
}
