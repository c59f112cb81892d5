#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::rolls_to_gather;
using test::declined;
using test::rewritten;

namespace {

const std::string kConstants =
    "<int64[2] front = {1, 3}, int64[4] image = {0, 4, 4, 8}, int64[4] back = {-1, 4, 4, 8}, int64[6] parted = {-1, 2, "
    "2, 2, 2, 8}, "
    "int64[3] windows = {-1, 4, 8}, int64[3] rows = {-1, 16, 8}, int64[2] two = {2, 2}>";

std::string graph(const std::string& body, const std::string& x = "B,16,8", const std::string& y = "P,4,8") {
  return "g (double[" + x + "] x) => (double[" + y + "] y) " + kConstants + " { " + body + " }";
}

const std::string kRolled =
    "i = Reshape (x, image)  a, b = Split <axis = 1> (i, front)  r = Concat <axis = 1> (b, a)  "
    "c, d = Split <axis = 2> (r, front)  s = Concat <axis = -2> (d, c)  ";
const std::string kWindows = "p = Reshape (s, parted)  t = Transpose <perm = [0, 1, 3, 2, 4, 5]> (p)  ";

}  // namespace

TEST_CASE("rows of an image that is rolled and parted into windows are gathered") {
  CHECK(rewritten(rolls_to_gather, graph(kRolled + kWindows + "z = Reshape (t, windows)  y = Relu (z)")) ==
        "Gather Reshape Relu");
  CHECK(rewritten(rolls_to_gather, graph(kRolled + kWindows + "z = Reshape (t, windows)  y = Relu (z)", "1,16,8")) ==
        "Gather Reshape Relu");
}

TEST_CASE("windows that are joined and rolled back are gathered") {
  CHECK(
      rewritten(rolls_to_gather,
                graph("p = Reshape (x, parted)  t = Transpose <perm = [0, 1, 3, 2, 4, 5]> (p)  i = Reshape (t, back)  "
                      "a, b = Split <axis = 1> (i, front)  r = Concat <axis = 1> (b, a)  y = Reshape (r, rows)",
                      "8,4,8", "2,16,8")) == "Reshape Gather");
}

TEST_CASE("a roll alone is a Gather of rows") {
  CHECK(rewritten(rolls_to_gather, graph("a, b = Split <axis = 1> (x, front)  y = Concat <axis = 1> (b, a)", "B,4,8",
                                         "B,4,8")) == "Gather");
}

TEST_CASE("rolls of samples, short rows, and pieces that others read stay") {
  const std::string no = "what it rolls are no rows of the same samples";
  CHECK(declined(rolls_to_gather,
                 graph("a, b = Split <axis = 0> (x, front)  y = Concat <axis = 0> (b, a)", "4,B,8", "4,B,8")) == no);
  CHECK(declined(rolls_to_gather,
                 graph("a, b = Split <axis = 1> (x, front)  y = Concat <axis = 1> (b, a)", "B,4,2", "B,4,2")) == no);
  CHECK(declined(rolls_to_gather,
                 graph("a, b = Split <axis = 1> (x, front)  y = Concat <axis = 1> (b, a)", "B,4,N", "B,4,N")) == no);
  CHECK(declined(rolls_to_gather,
                 graph("a, b = Split <axis = 1> (x, two)  y = Concat <axis = 2> (b, a)", "B,4,8", "B,2,16")) == no);
  CHECK(declined(rolls_to_gather, graph("a, b = Split <axis = 1> (x, two)  s = Concat <axis = 1> (b, a)  "
                                        "z = Add (a, b)  w = Concat <axis = 1> (z, b)  y = Add (s, w)",
                                        "B,4,8", "B,4,8"))
            .empty());
}
