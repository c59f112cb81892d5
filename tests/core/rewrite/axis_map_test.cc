#include "core/rewrite/axis_map.h"

#include "tests/support/catch.h"

using namespace mlopt;

namespace {

const Dim kBatch = Dim::symbol("B"), kRows = Dim::symbol("N");

AxisMap of(SymDims source) { return AxisMap(std::move(source)); }

}  // namespace

TEST_CASE("an axis map knows the shape of its view") {
  AxisMap heads = of({kBatch, kRows, 24});
  REQUIRE(heads.reshape({kBatch, kRows, 3, 8}));
  REQUIRE(heads.transpose({0, 2, 1, 3}));
  CHECK(heads.dims() == SymDims{kBatch, 3, kRows, 8});
  CHECK(heads.cost() == 2);
  REQUIRE(heads.reshape({3 * kBatch, kRows, 8}));
  REQUIRE(heads.transpose({1, 0, 2}));
  CHECK(heads.dims() == SymDims{kRows, 3 * kBatch, 8});
}

TEST_CASE("steps that undo one another cost nothing") {
  AxisMap there = of({kBatch, kRows, 24});
  REQUIRE(there.transpose({1, 0, 2}));
  CHECK(there.cost() == 1);
  REQUIRE(there.reshape({kRows, kBatch * 3, 8}));
  REQUIRE(there.reshape({kRows, kBatch, 3, 8}));
  REQUIRE(there.transpose({1, 0, 2, 3}));
  REQUIRE(there.reshape({kBatch, kRows, 24}));
  CHECK(there.cost() == 0);
}

TEST_CASE("axes of length 1 move without a Transpose") {
  AxisMap one = of({1, kRows, 24});
  REQUIRE(one.transpose({1, 0, 2}));
  CHECK(one.dims() == SymDims{kRows, 1, 24});
  CHECK(one.cost() == 1);
  AxisMap four = of({1, kRows, 3, 8});
  REQUIRE(four.transpose({0, 2, 1, 3}));
  CHECK(four.cost() == 1);
}

TEST_CASE("parts that do not divide one another are not known") {
  CHECK_FALSE(of({kBatch, 6}).reshape({kBatch, 4}));
  CHECK_FALSE(of({kBatch, kRows}).reshape({kRows, kBatch}));
  CHECK_FALSE(of({Dim(), 6}).reshape({Dim(), 2, 3}));
  CHECK_FALSE(of({kBatch, 6}).transpose({0, 0}));
}

TEST_CASE("a piece is taken from the outermost part of an axis alone") {
  AxisMap packed = of({kBatch, kRows, 24});
  REQUIRE(packed.reshape({kBatch, kRows, 3, 8}));
  REQUIRE(packed.transpose({2, 0, 1, 3}));
  CHECK(packed.take_piece(0) == 2);
  CHECK(packed.cost() == 0);
  CHECK(packed.dims() == SymDims{kBatch, kRows, 8});
  AxisMap inner = of({kBatch, kRows, 24});
  REQUIRE(inner.reshape({kBatch, kRows, 8, 3}));
  CHECK_FALSE(inner.take_piece(3));
}

TEST_CASE("columns stay the last axis until they move or are parted") {
  AxisMap rows = of({kBatch * kRows, 24});
  CHECK(rows.keeps_last());
  REQUIRE(rows.reshape({kBatch, kRows, 24}));
  CHECK(rows.keeps_last());
  REQUIRE(rows.transpose({1, 0, 2}));
  CHECK(rows.keeps_last());
  REQUIRE(rows.reshape({kRows, kBatch, 3, 8}));
  CHECK_FALSE(rows.keeps_last());
}

TEST_CASE("columns are found before axes of length 1, and not where they moved or are such an axis themselves") {
  AxisMap rows = of({kBatch, kRows, 24});
  CHECK(rows.place_of_last() == 2);
  REQUIRE(rows.reshape({kBatch, kRows, 24, 1, 1}));
  CHECK(rows.place_of_last() == 2);
  CHECK_FALSE(rows.keeps_last());
  REQUIRE(rows.transpose({0, 2, 1, 3, 4}));
  CHECK_FALSE(rows.place_of_last());
  AxisMap one = of({kBatch, kRows, 1});
  CHECK_FALSE(one.keeps_last());
  REQUIRE(one.transpose({0, 2, 1}));
  CHECK_FALSE(one.place_of_last());
}

TEST_CASE("an axis map knows what an axis was parted into") {
  AxisMap parts = of({12, kRows, 1});
  CHECK(parts.parts_of(0) == SymDims{12});
  REQUIRE(parts.reshape({2, 6, kRows, 1}));
  REQUIRE(parts.transpose({2, 1, 0, 3}));
  CHECK(parts.parts_of(0) == SymDims{2, 6});
  CHECK(parts.parts_of(1) == SymDims{kRows});
  CHECK(parts.parts_of(2).empty());
}
