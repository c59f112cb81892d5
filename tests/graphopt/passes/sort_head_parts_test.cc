#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::sort_head_parts;
using test::declined;
using test::rewritten;

namespace {

/// Rows of 24, parted by `shape`, of which `takes` takes q, k and v.
std::string graph(const std::string& rows, const std::string& takes, const std::string& shape = "0, 0, 2, 3, 4") {
  return "g (double[B,N,5] x, double[5,24] W, double[24] C) => (double[B,N,2,4] q, double[B,N,2,4] k, double[B,N,2,4] "
         "v) <int64[5] s = {" +
         shape +
         "}, int64 zero = {0}, int64 one = {1}, int64 last = {-1}, int64[1] list = {1}, double[24] two = "
         "{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}> { " +
         rows + "  h = Reshape (r, s)  " + takes + " }";
}

const std::string kTakes =
    "q = Gather <axis = 3> (h, zero)  k = Gather <axis = -2> (h, one)  v = Gather <axis = 3> (h, last)";

}  // namespace

TEST_CASE("columns of a matrix are sorted by queries, keys and values") {
  CHECK(rewritten(sort_head_parts, graph("r = MatMul (x, W)", kTakes)) ==
        "MatMul Reshape Transpose Gather Gather Gather");
  CHECK(rewritten(sort_head_parts, graph("m = MatMul (x, W)  r = Add (m, C)", kTakes)) ==
        "MatMul Add Reshape Transpose Gather Gather Gather");
  CHECK(rewritten(sort_head_parts, graph("m = MatMul (x, W)  a = Add (C, m)  r = Add (a, two)", kTakes)) ==
        "MatMul Add Add Reshape Transpose Gather Gather Gather");
  CHECK(rewritten(sort_head_parts, graph("m = MatMul (x, W)  r = Add (m, C)", kTakes), 11) ==
        "MatMul Add Reshape Transpose Gather Gather Gather");
}

TEST_CASE("what is sorted already, or is taken otherwise, stays") {
  const std::string rows = "r = MatMul (x, W)";
  const std::string first =
      "q = Gather <axis = 2> (h, zero)  k = Gather <axis = 2> (h, one)  v = Gather <axis = 2> (h, last)";
  CHECK(declined(sort_head_parts, graph(rows, first, "0, 0, 3, 2, 4")).empty());
  CHECK(declined(sort_head_parts, graph(rows, kTakes, "0, 0, 1, 3, 8")).empty());
  CHECK(declined(sort_head_parts,
                 graph(rows, "q = Gather <axis = 3> (h, zero)  k = Gather <axis = 3> (h, zero)  v = Neg (k)"))
            .empty());
  CHECK(declined(sort_head_parts, graph(rows,
                                        "q = Gather <axis = 3> (h, zero)  k = Gather <axis = 3> (h, one)  "
                                        "v = Gather <axis = 3> (h, list)"))
            .empty());
  CHECK(declined(sort_head_parts,
                 graph(rows, "q = Gather <axis = 3> (h, zero)  k = Gather <axis = 3> (h, one)  v = Neg (h)"))
            .empty());
}

TEST_CASE("rows that are of no constant matrix of their own stay") {
  const std::string why = "it is not of a constant matrix that nothing else reads";
  CHECK(declined(sort_head_parts, graph("m = MatMul (x, W)  r = Relu (m)", kTakes)) == why);
  CHECK(declined(sort_head_parts, graph("m = MatMul (x, W)  n = MatMul (x, W)  r = Add (m, n)", kTakes)) == why);
  CHECK(declined(sort_head_parts, graph("w = Relu (W)  r = MatMul (x, w)", kTakes)) == why);
}

namespace {

/// Rows of 24 as two heads, which `parts` takes apart into q, k and v.
std::string from_heads(const std::string& rows, const std::string& parts, const std::string& shape = "0, 0, 2, 12",
                       const std::string& dims = "B,2,N,4") {
  const std::string type = "double[" + dims + "] ";
  return "g (double[B,N,5] x, double[5,24] W, double[24] C) => (" + type + "q, " + type + "k, " + type +
         "v) <int64[4] s = {" + shape + "}, int64[3] sizes = {4, 4, 4}> { " + rows + "  h = Reshape (r, s)  " + parts +
         " }";
}

const std::string kTurn = "t = Transpose <perm = [0, 2, 1, 3]> (h)  ", kRows = "m = MatMul (x, W)  r = Add (m, C)",
                  kSplit = "q, k, v = Split <axis = 3> (t, sizes)";

}  // namespace

TEST_CASE("columns are sorted where one Split takes queries, keys and values from each head") {
  const std::string heads = " Reshape Transpose";
  const auto sorted = [](const std::string& text, int64_t opset = 21) {
    return rewritten(sort_head_parts, text, opset, 1e-12, Target::kOrt);
  };
  CHECK(sorted(from_heads(kRows, kTurn + kSplit)) == "MatMul Add Split" + heads + heads + heads);
  CHECK(sorted(from_heads("r = MatMul (x, W)", kTurn + "q, k, v = Split <axis = -1, num_outputs = 3> (t)")) ==
        "MatMul Split" + heads + heads + heads);
  CHECK(sorted(from_heads(kRows, kTurn + "q, k, v = Split <axis = 3> (t)"), 12) ==
        "MatMul Add Split" + heads + heads + heads);
  CHECK(sorted(from_heads(kRows, "q, k, v = Split <axis = 3> (h, sizes)", "0, 0, 2, 12", "B,N,2,4")) ==
        "MatMul Add Split Reshape Reshape Reshape");
}

TEST_CASE("heads that are taken apart otherwise, or that others read, stay") {
  const auto kept = [](const std::string& text) { return declined(sort_head_parts, text, 21, Target::kOrt); };
  CHECK(kept(from_heads(kRows,
                        "t = Transpose <perm = [0, 2, 3, 1]> (h)  u = Transpose <perm = [0, 1, 3, 2]> (t)  "
                        "q, k, v = Split <axis = 3> (u, sizes)"))
            .empty());
  CHECK(kept(from_heads(kRows + "  o = Neg (r)", kTurn + kSplit)) ==
        "it is not of a constant matrix that nothing else reads");
  CHECK(kept(from_heads("m = MatMul (x, W)  r = Relu (m)", kTurn + kSplit)) ==
        "it is not of a constant matrix that nothing else reads");
  CHECK(kept(from_heads(kRows, kTurn + "o = Neg (t)  " + kSplit)).empty());
  CHECK(kept(from_heads(kRows, kTurn + ", k, v = Split <axis = 3> (t, sizes)  q = Neg (k)")).empty());
  CHECK(declined(sort_head_parts, from_heads(kRows, kTurn + kSplit), 22) == "Attention needs opset 23");
  CHECK(rewritten(sort_head_parts, from_heads(kRows, kTurn + kSplit), 23).starts_with("MatMul Add Split"));
}
