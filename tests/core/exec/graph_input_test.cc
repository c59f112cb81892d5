#include "core/exec/graph_input.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;
using test::contains;
using test::error_of;

namespace {

GraphInput input(const std::string& name, SymDims dims) {
  return {name, Type::tensor(DType::kF32, std::move(dims)), false};
}

Datum numbers(Dims dims) { return Tensor::zeros(DType::kF32, std::move(dims)); }

}  // namespace

TEST_CASE("free dimensions of one name have one size") {
  const Dim batch = Dim::symbol("batch"), rows = Dim::symbol("rows");
  const std::vector<GraphInput> inputs = {input("a", {batch, rows}), input("b", {batch, 3}), input("c", {rows, rows})};
  check_names(inputs, std::vector<Datum>{numbers({2, 5}), numbers({2, 3}), numbers({5, 5})});
  const auto message = [&](const std::vector<Datum>& given) { return error_of([&] { check_names(inputs, given); }); };
  CHECK(contains(message({numbers({2, 5}), numbers({4, 3}), numbers({5, 5})}), "'batch' is 2 in 'a' and 4 in 'b'"));
  CHECK(contains(message({numbers({2, 5}), numbers({2, 3}), numbers({5, 6})}), "'rows' is 5 in 'a' and 6 in 'c'"));
}

TEST_CASE("an input fits what the model declares") {
  const GraphInput declared = input("a", {Dim::symbol("batch"), 3});
  check_input(declared, numbers({2, 3}));
  for (const Dims& dims : {Dims{2, 4}, {2}, {2, 3, 1}})
    CHECK(contains(error_of([&] { check_input(declared, numbers(dims)); }), "'a'"));
  CHECK(contains(error_of([&] { check_input(declared, Datum(Tensor::zeros(DType::kI64, {2, 3}))); }), "'a'"));
}
