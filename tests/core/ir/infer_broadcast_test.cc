#include "core/ir/infer_types.h"
#include "tests/support/catch.h"
#include "tests/support/infer.h"

using namespace mlopt;
using infer_rules::broadcast_dim;
using infer_rules::is_choice_of;
using infer_rules::is_part_of;

namespace {

Dim dim(const char* name) { return Dim::symbol(name); }

}  // namespace

TEST_CASE("numbers win over what is not known, and 1 over nothing") {
  CHECK(broadcast_dim(1, dim("N")) == dim("N"));
  CHECK(broadcast_dim(dim("N"), 1) == dim("N"));
  CHECK(broadcast_dim(dim("N"), 7) == Dim(7));
  CHECK(broadcast_dim(Dim(), 7) == Dim(7));
  CHECK_FALSE(broadcast_dim(Dim(), dim("N")).known());
}

TEST_CASE("two lengths make the same one in any order, which either leaves as it is") {
  const Dim a = dim("a"), b = dim("b"), c = dim("c"), ab = broadcast_dim(a, b);
  CHECK(ab.str() == "(a or b)");
  CHECK(broadcast_dim(b, a) == ab);
  CHECK(broadcast_dim(ab, a) == ab);
  CHECK(broadcast_dim(b, ab) == ab);
  CHECK(broadcast_dim(broadcast_dim(c, b), a) == broadcast_dim(ab, c));
  CHECK_FALSE(ab == a);
  CHECK_FALSE(ab == broadcast_dim(a, c));
}

TEST_CASE("lengths that were computed are taken whole") {
  const Dim half = Dim::floor_divide(broadcast_dim(dim("a"), dim("b")), 2), c = dim("c");
  const Dim found = broadcast_dim(half, c + 1);
  CHECK(found.str() == "(((a or b))//2 or c+1)");
  CHECK(broadcast_dim(found, half) == found);
  CHECK_FALSE(is_choice_of(dim("a"), found));
  // The same pieces of text, parted otherwise.
  const auto half_of = [](const char* x, const char* y) { return Dim::floor_divide(broadcast_dim(dim(x), dim(y)), 2); };
  CHECK_FALSE(broadcast_dim(half_of("x", "y"), half_of("u", "w")) ==
              broadcast_dim(half_of("x", "w"), half_of("u", "y")));
}

TEST_CASE("a length is a choice of what it was broadcast to") {
  const Dim a = dim("a"), b = dim("b"), ab = broadcast_dim(a, b);
  CHECK(is_choice_of(a, a));
  CHECK(is_choice_of(a, ab));
  CHECK(is_choice_of(ab, broadcast_dim(ab, dim("c"))));
  CHECK(is_choice_of(1, a));
  CHECK_FALSE(is_choice_of(2, a));
  CHECK_FALSE(is_choice_of(ab, a));
  CHECK_FALSE(is_choice_of(dim("c"), ab));
  CHECK_FALSE(is_choice_of(Dim(), Dim()));
}

TEST_CASE("a table that was cut to a length gives way to it, also where it was broadcast") {
  const Dim n = dim("N"), cut = dim(infer_rules::at_most("N", 512).c_str());
  CHECK(broadcast_dim(cut, n) == n);
  CHECK(broadcast_dim(cut, broadcast_dim(n, dim("M"))) == broadcast_dim(n, dim("M")));
  CHECK(is_part_of(cut, n));
  CHECK_FALSE(is_part_of(cut, dim("M")));
}

TEST_CASE("lists that grow beyond measure are given up") {
  Dim d = dim("a");
  for (int i = 0; i < 100; ++i) d = broadcast_dim(d, dim(("axis" + std::to_string(i)).c_str()));
  CHECK_FALSE(d.known());
}

TEST_CASE("elementwise operators, products and shapes that are computed from them know such lengths") {
  using test::types_in;
  CHECK(types_in("float[N,4] x, float[M,1] z", "y = Add(x, z)", "y") == "float32[(M or N),4]");
  CHECK(types_in("float[N,3,4] x, float[M,4,5] z", "y = MatMul(x, z)", "y") == "float32[(M or N),3,5]");
  CHECK(types_in("float[N,6] x, float[M,6] z",
                 "a = Add(x, z)  s = Shape<end = 1>(a)  t = Concat<axis = 0>(s, l)  y = Reshape(a, t)", "y", 21,
                 nullptr, "int64[2] l = {2, 3}") == "float32[(M or N),2,3]");
  CHECK(
      types_in("float[N,4] x, float[M,4] z",
               "a = Add(x, z)  s = Shape<end = 1>(a)  t = Shape<end = 1>(z)  m = Max(t, s)  l = Concat<axis = 0>(m, r) "
               "y = Expand(one, l)",
               "y", 21, nullptr, "int64[1] r = {4}, float one = {1}") == "float32[(M or N),4]");
  CHECK(types_in("float[N,4] x, float[M,4] z", "a = Add(x, z)  s = Shape<end = 1>(x)  y = Slice(a, zero, s, zero)", "y",
                 21, nullptr, "int64[1] zero = {0}") == "float32[N,4]");
}
