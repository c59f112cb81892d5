#include "prune/structure/atoms.h"

#include "tests/support/catch.h"

using namespace mlopt;
using prune::Atoms;

namespace {

Value value_of(const SymDims& dims) {
  Value v;
  v.type = Type::tensor(DType::kF32, dims);
  return v;
}

}  // namespace

TEST_CASE("axes of known sizes above one have a number, counted from either end") {
  Atoms atoms;
  const Value v = value_of({Dim::symbol("N"), 4, 1});
  CHECK_FALSE(atoms.axis(v, 0, nullptr));
  CHECK_FALSE(atoms.axis(v, 2, nullptr));
  CHECK_FALSE(atoms.axis(v, 3, nullptr));
  REQUIRE(atoms.axis(v, 1, nullptr));
  CHECK(atoms.axis(v, 1, nullptr) == atoms.axis(v, -2, nullptr));
  CHECK(atoms.size() == 4);
  CHECK(atoms.holds(0, 3));
  CHECK_FALSE(atoms.holds(0, 4));
  CHECK_FALSE(atoms.holds(0, -1));
}

TEST_CASE("an axis that is longer than any that channels have has no number") {
  Atoms atoms;
  for (const int64_t size : {int64_t{1} << 31, INT64_MAX}) CHECK_FALSE(atoms.axis(value_of({size}), 0, nullptr));
  CHECK(atoms.size() == 0);
}

TEST_CASE("elements that are tied are one class, and stay together once one of them is pinned") {
  Atoms atoms;
  const Value v = value_of({4}), w = value_of({4}), u = value_of({2});
  const size_t a = *atoms.axis(v, 0, nullptr), b = *atoms.axis(w, 0, nullptr), c = *atoms.axis(u, 0, nullptr);
  atoms.tie(a, 1, b, 2);
  atoms.tie(b, 2, c, 0);
  CHECK(atoms.find(a, 1) == atoms.find(c, 0));
  CHECK(atoms.find(a, 2) != atoms.find(b, 2));
  atoms.pin(a, 3, "first");
  atoms.pin(b, 2, "second");
  atoms.pin(c, 0, "third");
  atoms.tie(c, 1, a, 3);
  CHECK(*atoms.pinned(atoms.find(a, 1)) == "second");  // the first reason is kept
  CHECK(*atoms.pinned(atoms.find(c, 1)) == "first");   // and comes along
  CHECK(atoms.pinned(atoms.find(a, 0)) == nullptr);
  CHECK(atoms.all_pinned(c));
  CHECK_FALSE(atoms.all_pinned(a));
  atoms.pin_all(a, "fourth");
  CHECK(atoms.all_pinned(a));
}
