#include "tests/support/cases.h"

#include "core/tensor/cast.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

void require_same(const Datum& actual, const Datum& expected, double tolerance) {
  if (expected.is_none()) return;
  REQUIRE(actual.kind() == expected.kind());
  if (expected.is_tensor()) return require_close(actual.tensor(), expected.tensor(), tolerance);
  if (expected.kind() == Datum::Kind::kMap) require_close(actual.keys(), expected.keys(), tolerance);
  REQUIRE(actual.items().size() == expected.items().size());
  for (size_t i = 0; i < expected.items().size(); ++i) require_same(actual.items()[i], expected.items()[i], tolerance);
}

}  // namespace

Tensor counting(Dims dims, DType type) {
  Tensor out(DType::kI64, std::move(dims));
  auto* cell = out.mutable_data<int64_t>();
  for (int64_t i = 0; i < out.size(); ++i) cell[i] = i;
  return cast(out, type);
}

void check_cases(const std::vector<OpCase>& rows) {
  REQUIRE_FALSE(rows.empty());
  for (size_t i = 0; i < rows.size(); ++i) {
    const OpCase& row = rows[i];
    INFO("row " << i << ": " << row.op);
    OpOptions options = row.options;
    options.outputs = static_cast<int>(row.expected.size());
    const std::vector<Datum> outputs = run_node(row.op, row.inputs, options);
    for (size_t k = 0; k < row.expected.size(); ++k) {
      INFO("output " << k);
      require_same(outputs[k], row.expected[k], row.tolerance);
    }
  }
}

void check_errors(const std::vector<BadCase>& rows) {
  REQUIRE_FALSE(rows.empty());
  for (size_t i = 0; i < rows.size(); ++i) {
    INFO("row " << i << ": " << rows[i].op);
    const std::string message = error_of(rows[i].op, rows[i].inputs, rows[i].options);
    INFO(message);
    REQUIRE(message.find(rows[i].text) != std::string::npos);
    REQUIRE(message.find(rows[i].op + " 'tested'") != std::string::npos);
  }
}

}  // namespace mlopt::test
