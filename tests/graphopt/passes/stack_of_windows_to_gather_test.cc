#include <fmt/core.h>

#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::stack_of_windows_to_gather;
using test::declined;
using test::rewritten;

namespace {

/// Windows of x [B, 20, 3] from these places on, stacked along an axis; `each` makes w0, w1, ... of the slices s0, s1,
/// ...
std::string stacked(const std::vector<int>& starts, const std::string& axis, const std::string& each = "Identity",
                    int length = 5, const std::string& along = "1", const std::string& other = "") {
  std::string text = "g (double[B,20,3] x, double[B,20,3] z) => (double[P,Q,R,S] y) <int64[1] along = {" + along +
                     "}, int64[1] axis = {" + axis + "}",
              nodes, parts;
  for (size_t i = 0; i < starts.size(); ++i) {
    text += fmt::format(", int64[1] from{} = {{{}}}, int64[1] to{} = {{{}}}", i, starts[i], i, starts[i] + length);
    const std::string source = !other.empty() && i == 1 ? other : "x";
    nodes += fmt::format(" s{} = Slice ({}, from{}, to{}, along)  w{} = {} (s{})  u{} = Unsqueeze (w{}, axis) ", i,
                         source, i, i, i, each, i, i, i);
    parts += (i ? ", u" : "u") + std::to_string(i);
  }
  return text + "> {" + nodes + " y = Concat <axis = " + axis + "> (" + parts + ") }";
}

const std::vector<int> kStarts = {0, 4, 8, 12}, kAny = {9, 3, 3, 14, 1};

}  // namespace

TEST_CASE("windows are gathered at once, whatever their places") {
  const std::string turn = "Transpose <perm = [0, 2, 1]>";
  CHECK(rewritten(stack_of_windows_to_gather, stacked(kStarts, "1", turn)) == "Add Gather Transpose");
  CHECK(rewritten(stack_of_windows_to_gather, stacked(kAny, "1", turn)) == "Add Gather Transpose");
  CHECK(rewritten(stack_of_windows_to_gather, stacked(kStarts, "0", turn)) == "Add Gather Transpose");
  CHECK(rewritten(stack_of_windows_to_gather, stacked(kStarts, "3", turn)) == "Add Gather Transpose");
  CHECK(rewritten(stack_of_windows_to_gather, stacked(kStarts, "-1", turn)) == "Add Gather Transpose");
  CHECK(rewritten(stack_of_windows_to_gather, stacked({0, 1, 1, 0}, "1", "Transpose <perm = [2, 1, 0]>", 2, "2")) ==
        "Add Gather Transpose");
}

TEST_CASE("windows that come in the order of a stack are gathered alone") {
  const std::string text = R"(g (double[9,3] x) => (double[4,2,3] y) <int64[1] zero = {0}, int64[1] one = {1},
    int64[1] two = {2}, int64[1] three = {3}, int64[1] five = {5}, int64[1] seven = {7}, int64[1] nine = {9}>
    { a = Slice (x, zero, two, zero)  b = Slice (x, one, three, zero)  c = Slice (x, five, seven, zero)
      d = Slice (x, seven, nine, zero)  e = Unsqueeze (a, zero)  f = Unsqueeze (b, zero)  h = Unsqueeze (c, zero)
      i = Unsqueeze (d, zero)  y = Concat <axis = 0> (e, f, h, i) })";
  CHECK(rewritten(stack_of_windows_to_gather, text) == "Add Gather");
}

TEST_CASE("few windows, of several values, of other lengths, or that are changed, stay") {
  const std::string turn = "Transpose <perm = [0, 2, 1]>";
  CHECK(declined(stack_of_windows_to_gather, stacked({0, 4, 8}, "1", turn)).empty());
  CHECK(declined(stack_of_windows_to_gather, stacked(kStarts, "1", "Neg")).empty());
  CHECK(declined(stack_of_windows_to_gather, stacked(kStarts, "1", turn, 5, "1", "z")) ==
        "it joins other values as well");
  CHECK(declined(stack_of_windows_to_gather, stacked({0, 4, 8, 17}, "1", turn)) == "the windows are of other lengths");
  CHECK(declined(stack_of_windows_to_gather, stacked(kStarts, "1", turn, 1)).empty());
}
