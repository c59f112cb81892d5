#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/message.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using namespace mlopt::test;

namespace {

Tensor pair(float a, float b) { return Tensor::of<float>({2}, {a, b}); }

bool equal(const Datum& a, const Datum& b) {
  if (a.kind() != b.kind()) return false;
  if (a.is_tensor() || a.kind() == Datum::Kind::kMap) {
    const Tensor& left = a.is_tensor() ? a.tensor() : a.keys();
    const Tensor& right = b.is_tensor() ? b.tensor() : b.keys();
    if (left.dtype() != right.dtype() || left.dims() != right.dims()) return false;
    if (left.dtype() == DType::kString && left.strings() != right.strings()) return false;
    if (!std::equal(left.raw_bytes().begin(), left.raw_bytes().end(), right.raw_bytes().begin())) return false;
  }
  if (a.is_tensor() || a.is_none()) return true;
  return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), equal);
}

}  // namespace

TEST_CASE("values of every kind pass through a file") {
  const TempDir folder;
  const Type floats = Type::tensor(DType::kF32);
  Type map;
  map.kind = Type::Kind::kMap;
  map.dtype = DType::kI64;
  map.element = std::make_shared<const Type>(floats);
  const Datum two = Datum::sequence({pair(1, 2), pair(3, 4)});
  const Datum numbers = Datum::map(Tensor::ints({7, 8}), {pair(1, 2), pair(3, 4)});
  const Datum words = Datum::map(Tensor::of_strings({1}, {"a"}), {pair(1, 2)});
  const std::vector<std::pair<Datum, Type>> cases = {
      {pair(1, 2), floats},
      {Tensor::zeros(DType::kI4, {5001}), Type::tensor(DType::kI4)},
      {Tensor::of_strings({2}, {"a", ""}), Type::tensor(DType::kString)},
      {two, Type::sequence(floats)},
      {Datum::sequence({Tensor::of(Dims{4000}, std::vector<float>(4000, 0.5f))}), Type::sequence(floats)},
      {Datum::sequence({}), Type::sequence(floats)},
      {Datum::sequence({two, Datum::sequence({})}), Type::sequence(Type::sequence(floats))},
      {Datum::sequence({numbers}), Type::sequence(map)},
      {numbers, map},
      {words, map},
      {pair(1, 2), Type::optional(floats)},
      {Datum(), Type::optional(floats)},
      {two, Type::optional(Type::sequence(floats))},
      {Datum(), Type::optional(Type::sequence(floats))},
      {Datum::sequence({pair(1, 2), Datum()}), Type::sequence(Type::optional(floats))},
  };
  for (const auto& [value, type] : cases) {
    CAPTURE(to_string(type));
    write_datum(value, type, "v", folder / "v.pb");
    CHECK(equal(read_datum(folder / "v.pb", type), value));
  }
}

TEST_CASE("a value of the wrong kind is refused") {
  const TempDir folder;
  CHECK_FALSE(error_of([&] { read_datum(folder.write("a.pb", "not a value"), {}); }).empty());
  CHECK_FALSE(error_of([&] { read_datum(folder / "missing.pb", {}); }).empty());
  const std::string uneven = number(2, 7) + bytes(3, varint(1)) + bytes(5, number(2, 1));
  Type map;
  map.kind = Type::Kind::kMap;
  CHECK(contains(error_of([&] { read_datum(folder.write("b.pb", uneven), map); }), "keys"));
}
