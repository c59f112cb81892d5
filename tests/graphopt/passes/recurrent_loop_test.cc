#include <fmt/core.h>

#include "graphopt/passes.h"
#include "graphopt/passes/recurrent.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::fuse_rnn;
using test::declined;
using test::rewritten;

namespace {

struct Text {
  std::string sequence = "T,B,2", state = "B,3", trips = "0", given = "double[E,3] o", first = "", go = "yes",
              walk = "r = Gather (x, i)", more = "";
};

std::string loop(const Text& t) {
  return fmt::format(
      "g (double[{}] x, double[{}] s, double[2,3] W, double[3,3] R) => (double[P,3] y, double[Q,P,Z] z) <bool yes = "
      "{{1}}, bool no = {{0}}, int64 k0 = {{0}}, int64 k1 = {{1}}> {{ all = Shape (x)  n = Gather (all, k{})  y, z = "
      "Loop (n, {}, s) <body = b (int64 i, bool c, double[E,3] h) => (bool {}, double[E,3] o, {}) {{ {}  p = MatMul "
      "(r, "
      "W)  q = MatMul (h, R)  a = Add (p, q)  o = Tanh (a)  {} }}> }}",
      t.sequence, t.state, t.trips, t.first, t.go, t.given, t.walk, t.more);
}

const std::string kFused = "Unsqueeze RNN Squeeze Squeeze";

}  // namespace

TEST_CASE("a Loop over all entries of a sequence that gives its states is a layer") {
  CHECK(rewritten(fuse_rnn, loop({})) == kFused);
  CHECK(rewritten(fuse_rnn, loop({.given = "double[E,3] p2", .more = "p2 = Identity (o)"})) == kFused);
  CHECK(rewritten(fuse_rnn, loop({.walk = "j = Cast <to = 6> (i)  r = Gather (x, j)"})) == kFused);
  CHECK(rewritten(fuse_rnn, loop({.first = "yes"})) == kFused);
  CHECK(rewritten(fuse_rnn, loop({.go = "k", .more = "k = Identity (c)"})) == kFused);
  CHECK(rewritten(fuse_rnn, loop({.first = "yes", .go = "k", .more = "k = Identity (c)"})) == kFused);
  CHECK(rewritten(fuse_rnn, loop({.sequence = "T,8,2", .state = "8,3"})) == kFused);
}

TEST_CASE("other Loops are none") {
  const auto reason = [](const Text& t) { return declined(fuse_rnn, loop(t)); };
  CHECK(reason({.given = "double[E,2] r"}) == "it gives more than states");
  CHECK(reason({.go = "no"}) == "a condition may end it");
  CHECK(reason({.first = "no", .go = "k", .more = "k = Identity (c)"}) == "a condition may end it");
  CHECK(reason({.go = "k", .more = "k = Not (c)"}) == "a condition may end it");
  CHECK(reason({.walk = "r = Gather (x, k0)"}) == "it walks along no sequence");
  CHECK(reason({.walk = "r = Gather (x, i)  f = Gather (x, i)"}) == "it walks along two sequences");
  CHECK(reason({.sequence = "B,T,2", .trips = "1", .walk = "r = Gather <axis = 1> (x, i)"}) ==
        "it walks along two sequences");
  CHECK(reason({.sequence = "T,T,2", .state = "T,3", .trips = "1", .walk = "u = Identity (i)  r = Gather (x, u)"}) ==
        "it walks along no sequence");
  CHECK(reason({.sequence = "5,4,2", .state = "4,3", .trips = "1"}) == "it does not walk along the whole sequence");
  CHECK(reason({.state = "A,3"}) == "its state is of another batch than its sequence");
  CHECK(reason({.sequence = "0,B,2"}) == "its sequence has no entries");
  CHECK(reason({.sequence = "T,B,4"}) == "its weights take other entries");
  CHECK(reason({.sequence = "T,32,2", .state = "32,3"}) == "RNN is slower for large batches");
}
