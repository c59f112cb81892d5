#include "core/tensor/datum.h"

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("a datum is one of four kinds") {
  const Datum nothing, tensor = Tensor::ints({1, 2}), list = Datum::sequence({tensor, nothing});
  CHECK(nothing.is_none());
  CHECK(tensor.tensor().size() == 2);
  CHECK(list.kind() == Datum::Kind::kSequence);
  CHECK(list.items().size() == 2);
  CHECK(list.items()[1].is_none());
  const Datum map = Datum::map(Tensor::of_strings({1}, {"k"}), {tensor});
  CHECK(map.kind() == Datum::Kind::kMap);
  CHECK(map.keys().strings()[0] == "k");
  CHECK(map.items()[0].tensor().raw() == tensor.tensor().raw());
}

TEST_CASE("taking a datum for what it is not is an error") {
  CHECK_THROWS_AS(Datum().tensor(), Error);
  CHECK_THROWS_AS(Datum().items(), Error);
  CHECK_THROWS_AS(Datum::sequence({}).tensor(), Error);
  CHECK_THROWS_AS(Datum(Tensor::ints({1})).items(), Error);
}
