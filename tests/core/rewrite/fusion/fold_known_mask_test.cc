#include "core/rewrite/fusion/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using test::declined;
using test::rewritten;

namespace {

/// Element (i, k) of x by one index into all of them.
std::string gathered(const std::string& index, const std::string& columns = "M") {
  return "g (bool[N," + columns + "] x) => (bool[N,1," + columns +
         "] y) <int64 zero = {0}, int64 one = {1}, int64[1] n = {0}, int64[1] m = {1}, "
         "int64[2] rows = {1, 2}, int64[2] cols = {0, 1}, int64[1] all = {-1}> { "
         "shape = Shape (x)  a = Gather (shape, zero)  b = Gather (shape, one)  w = Gather (shape, m) "
         "r = Range (zero, a, one)  c = Range (zero, b, one)  i = Unsqueeze (r, rows)  k = Unsqueeze (c, cols) "
         "f = Reshape (x, all)  p = Mul (" +
         index + ")  j = Add (p, k)  y = Gather (f, j) }";
}

}  // namespace

TEST_CASE("a matrix that is gathered element by element is only given another shape") {
  CHECK(rewritten(fusion::fold_known_mask, gathered("i, w"), 17) == "Reshape");
  CHECK(rewritten(fusion::fold_known_mask, gathered("w, i"), 17) == "Reshape");
  // A size that is known is written, for none can be inferred beside rows that are none.
  Model known = test::fixture(gathered("i, w", "4"), 17);
  infer(known, test::pass_context().standard_types);
  REQUIRE(run_pass(known, fusion::fold_known_mask, test::pass_context()).applied == 1);
  CHECK(to_ints(*known.graph->outputs()[0]->producer->input(1)->constant) == std::vector<int64_t>{0, 1, 4});
}

TEST_CASE("other indices stay") {
  CHECK(declined(fusion::fold_known_mask, gathered("i, a"), 17) == "the index does not count over the matrix");
  CHECK(declined(fusion::fold_known_mask, gathered("i, i"), 17) == "the index does not count over the matrix");
}

TEST_CASE("a condition that always holds goes") {
  CHECK(rewritten(fusion::fold_known_mask, R"(g (bool[N,M] x) => (bool[N,M] y) <bool t = {1}> { y = And (t, x) })",
                  17) == "Identity");
  const std::string repeated =
      "g (bool[N,1] x, float[N,M] like) => (bool[N,M] y) "
      "<int64 zero = {0}, int64 one = {1}, int64[1] first = {0}> { "
      "shape = Shape (like)  m = Gather (shape, one)  r = Range (zero, m, one) "
      "u = Unsqueeze (r, first)  t = GreaterOrEqual (u, zero)  b = And (t, x) ";
  CHECK(rewritten(fusion::fold_known_mask, repeated + "y = Expand (b, shape) }", 17) == "Shape Expand");
  const std::string wide =
      R"(g (bool[B,N,M] x, bool[1,M] z) => (bool[B,N,M] y) <bool t = {1}, bool f = {0}> { s = Shape (x)  )";
  CHECK(rewritten(fusion::fold_known_mask, wide + "w = Expand (t, s)  y = And (w, z) }", 17) == "Shape Expand");
  CHECK(declined(fusion::fold_known_mask, wide + "w = Expand (f, s)  y = And (w, z) }", 17).find("always holds") !=
        std::string::npos);
  const auto choice = [](const std::string& x) {
    return "g (float[" + x +
           "] x, bool[N,1] c, float[1,M] like) => (float[N,M] y) <bool t = {1}, float zero = {0}> { "
           "s = Shape (like)  w = Expand (t, s)  b = And (w, c)  v = Where (b, x, zero)  y = Relu (v) }";
  };
  CHECK(rewritten(fusion::fold_known_mask, choice("N,M"), 17) == "Where Relu");
  CHECK(declined(fusion::fold_known_mask, choice("N,1"), 17).find("it repeats what is chosen") != std::string::npos);
  CHECK(declined(fusion::fold_known_mask, repeated + "y = Not (b) }", 17) == "it repeats the other");
  CHECK(declined(fusion::fold_known_mask, "g (bool[N,M] x, bool[N,M] z) => (bool[N,M] y) { y = And (x, z) }", 17) ==
        "no condition always holds");
}

TEST_CASE("the other condition is repeated by the whole shape only") {
  const auto text = [](const std::string& shape) {
    return "g (bool[1,M] c, float[N,M] like) => (bool[N,M] y) <int64[1] l0 = {0}, int64[1] l1 = {1}> { whole = Shape "
           "(like)  n = Gather (whole, l0)  m = Gather (whole, l1)  t = ConstantOfShape <value = bool[1] {1}> (n)  "
           "u = Unsqueeze (t, l1)  row = Concat <axis = 0> (l1, m)  w = Expand (u, " +
           shape + ")  y = And (w, c) }";
  };
  CHECK(rewritten(fusion::fold_known_mask, text("whole"), 17).ends_with("Expand"));
  CHECK(declined(fusion::fold_known_mask, text("row"), 17).find("the other may be repeated further") !=
        std::string::npos);
}

TEST_CASE("a mask that a condition repeats for every query is repeated by the scores that it is added to") {
  const auto scores = [](const std::string& dims, const std::string& then) {
    return "g (float[" + dims +
           "] s, bool[B,1,1,N] c, float[N] like) => (float[B,U,N,N] y) "
           "<int64 zero = {0}, int64 one = {1}, int64[3] front = {0, 1, 3}, float none = {0}, float low = {-1.0e30}> { "
           "shape = Shape (like)  n = Squeeze (shape)  r = Range (zero, n, one)  u = Unsqueeze (r, front) "
           "t = GreaterOrEqual (u, zero)  b = And (t, c)  m = Where (b, none, low)  " +
           then + " }";
  };
  CHECK(rewritten(fusion::fold_known_mask, scores("B,4,N,N", "a = Add (s, m)  y = Relu (a)"), 17) == "Where Add Relu");
  // Two layers with one mask.
  CHECK(rewritten(fusion::fold_known_mask,
                  scores("B,4,N,N", "a = Add (s, m)  w = Relu (a)  o = Add (m, w)  y = Relu (o)"),
                  17) == "Where Add Relu Where Add Relu");
  CHECK(declined(fusion::fold_known_mask, scores("B,4,1,N", "a = Add (s, m)  y = Relu (a)"), 17)
            .find("it repeats what it is added to") != std::string::npos);
  CHECK(declined(fusion::fold_known_mask, scores("B,4,N,N", "a = Sub (s, m)  y = Relu (a)"), 17).find("added to") ==
        std::string::npos);
}

TEST_CASE("a mask that hides nothing is not added") {
  const auto text = [](const std::string& scores, const std::string& seen, const std::string& shown) {
    return "g (float[" + scores + "] s, float[N] like) => (float[B,4,N,N] y) <bool[1] t = {" + seen +
           "}, float shown = {" + shown +
           "}, float low = {-1.0e30}> { shape = Shape (like)  c = Expand (t, shape)  "
           "m = Where (c, shown, low)  a = Add (m, s)  y = Relu (a) }";
  };
  CHECK(rewritten(fusion::fold_known_mask, text("B,4,N,N", "1", "0"), 17) == "Relu");
  CHECK(declined(fusion::fold_known_mask, text("B,4,N,N", "0", "0"), 17).find("adds") == std::string::npos);
  CHECK(declined(fusion::fold_known_mask, text("B,4,N,N", "1", "2"), 17).find("it adds other numbers than zero") !=
        std::string::npos);
  CHECK(declined(fusion::fold_known_mask, text("B,4,N,1", "1", "0"), 17).find("it repeats what it is added to") !=
        std::string::npos);
}

namespace {

/// A causal mask beside one of sequences that are packed into a row: a new one begins where positions, which `given`
/// makes, do not go up by one.
std::string packed(const std::string& given) {
  return "g (float[B,N] x, int64[B,N] ids) => (bool[B,1,N,N] y) <int64 i0 = {0}, int64 i1 = {1}, int64[1] l0 = {0}, "
         "int64[1] l1 = {1}, int64[1] last = {-1}, int64[2] rows = {1, 3}, int64[2] cols = {1, 2}> "
         "{ shape = Shape (x)  n = Shape <start = 1> (x)  s = Squeeze (n)  r = Range (i0, s, i1)  u = Unsqueeze (r, "
         "l0)  p = " +
         given +
         "  first = Slice (p, l0, l1, l1)  before = Sub (first, i1)  all = Concat <axis = -1> (before, p)  "
         "n1 = Add (n, l1)  earlier = Slice (all, l0, n, last)  later = Slice (all, l1, n1, l1)  "
         "step = Sub (later, earlier)  goes = Equal (step, i1)  breaks = Not (goes)  b = Cast <to = 7> (breaks)  "
         "number = CumSum (b, last)  a = Unsqueeze (number, rows)  c = Unsqueeze (number, cols)  same = Equal (a, c)  "
         "i = Unsqueeze (p, rows)  k = Unsqueeze (p, cols)  order = LessOrEqual (k, i)  y = And (order, same) }";
}

std::string unpacked(const std::string& given) { return rewritten(fusion::fold_known_mask, packed(given), 18); }
std::string kept_packed(const std::string& given) { return declined(fusion::fold_known_mask, packed(given), 18); }

}  // namespace

TEST_CASE("positions that go up by one leave a row one sequence") {
  CHECK(unpacked("Expand (u, shape)") == "Shape Shape Squeeze Range Unsqueeze Expand Unsqueeze Unsqueeze LessOrEqual");
}

TEST_CASE("other positions do not") {
  CHECK(kept_packed("Identity (ids)").ends_with("the positions do not count"));
  CHECK(kept_packed("Mul (u, ids)").ends_with("the positions do not count"));
  CHECK(kept_packed("Add (u, ids)").ends_with("the positions do not count"));
}
