#include "tests/support/older.h"

#include "core/onnx/io.h"
#include "core/onnx/tools.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/rewrite.h"

namespace mlopt::test {

std::string in_older(const std::string& graph, int64_t from, int64_t to) {
  const Model source = fixture(graph, from), older = convert_opset(source, to);
  REQUIRE(older.opset() == to);
  REQUIRE(check_with_onnx(older).errors.empty());
  require_same_model(source, older, 1e-6);
  return operators(*older.graph);
}

std::string not_in_older(const std::string& graph, int64_t from, int64_t to) {
  const Model source = fixture(graph, from);
  const std::string message = error_of([&] { convert_opset(source, to); }), mark = "': ";
  const size_t at = message.find(mark), end = message.find('\n');
  return at == std::string::npos ? message : message.substr(at + mark.size(), end - at - mark.size());
}

}  // namespace mlopt::test
