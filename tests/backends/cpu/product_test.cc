#include "backends/cpu/product.h"

#include "tests/support/catch.h"

namespace mlopt::cpu {
namespace {

struct Case {
  Dims a, b;
  bool swap_a, swap_b;
  Dims pa, pb, out, result;
};

// The rows of all left matrices are one matrix where the right one is alone; axes that step alike are merged.
const Case kCases[] = {
    {{3, 4}, {4, 5}, false, false, {3, 4}, {4, 5}, {3, 5}, {3, 5}},
    {{4}, {4, 5}, false, false, {1, 4}, {4, 5}, {1, 5}, {5}},
    {{3, 4}, {4}, false, false, {3, 4}, {4, 1}, {3, 1}, {3}},
    {{4}, {4}, false, false, {1, 4}, {4, 1}, {1, 1}, {}},
    {{2, 6, 3, 4}, {4, 5}, false, false, {36, 4}, {4, 5}, {36, 5}, {2, 6, 3, 5}},
    {{2, 6, 3, 4}, {1, 1, 4, 5}, false, false, {36, 4}, {4, 5}, {36, 5}, {2, 6, 3, 5}},
    {{2, 6, 3, 4}, {2, 6, 4, 5}, false, false, {12, 3, 4}, {12, 4, 5}, {12, 3, 5}, {2, 6, 3, 5}},
    {{2, 1, 3, 4}, {1, 6, 4, 5}, false, false, {2, 1, 3, 4}, {1, 6, 4, 5}, {2, 6, 3, 5}, {2, 6, 3, 5}},
    {{3, 4}, {2, 6, 4, 5}, false, false, {1, 3, 4}, {12, 4, 5}, {12, 3, 5}, {2, 6, 3, 5}},
    {{4, 3}, {5, 4}, true, true, {3, 4}, {4, 5}, {3, 5}, {3, 5}},
    {{7, 4, 3}, {4, 5}, true, false, {7, 3, 4}, {1, 4, 5}, {7, 3, 5}, {7, 3, 5}},
};

}  // namespace

TEST_CASE("products are brought to the fewest axes") {
  for (const Case& c : kCases) {
    INFO(to_string(c.a) << " with " << to_string(c.b));
    const auto p = product_of(c.a, c.b, c.swap_a, c.swap_b);
    REQUIRE(p);
    REQUIRE(p->result == c.result);
    REQUIRE(element_count(p->out) == element_count(c.out));
    if (c.swap_a && c.a.size() > 2) continue;  // how many batch axes remain is of no interest there
    REQUIRE(p->a == c.pa);
    REQUIRE(p->b == c.pb);
    REQUIRE(p->out == c.out);
  }
}

TEST_CASE("operands that do not fit are declined") {
  REQUIRE(!product_of({}, {4}));
  REQUIRE(!product_of({3, 4}, {5, 4}));
  REQUIRE(!product_of({4}, {4, 5}, true));
  REQUIRE(!product_of({3, 4}, {4}, false, true));
}

TEST_CASE("a transposed matrix is described where it lies") {
  const Desc swapped = matrix(Elem::f32, {2, 3, 4}, true);
  REQUIRE(swapped.get_dims() == Dims{2, 3, 4});
  REQUIRE(swapped.get_strides() == Dims{12, 1, 3});
  REQUIRE(matrix(Elem::f32, {2, 3, 4}, false).get_strides() == Dims{12, 4, 1});
}

}  // namespace mlopt::cpu
