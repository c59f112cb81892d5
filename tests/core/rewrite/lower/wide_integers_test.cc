#include "core/rewrite/lower/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;

namespace {

std::string graph(const std::string& type, const std::string& call, const std::string& made, const char* size = "3") {
  return "g (" + type + "[2," + size + "] x) => (" + made + "[N,M] y) { y = " + call + " (x) }";
}

}  // namespace

TEST_CASE("extremes of narrow integers are those of int32") {
  for (const char* type : {"bool", "int8", "uint8", "int16", "uint16"})
    for (const char* op : {"ReduceMax", "ReduceMin"})
      CHECK(test::rewritten(lower::wide_integers, graph(type, op, type), 20, 0, Target::kKernels) ==
            "Cast " + std::string(op) + " Cast");
  CHECK(test::rewritten(lower::wide_integers, graph("uint8", "ArgMax", "int64"), 20, 0, Target::kKernels) ==
        "Cast ArgMax");
}

TEST_CASE("wider numbers, and extremes of nothing, stay") {
  CHECK(test::declined(lower::wide_integers, graph("int64", "ReduceMax", "int64"), 20, Target::kKernels) ==
        "its type is wide enough, or not known");
  CHECK(test::declined(lower::wide_integers, graph("bool", "ReduceMax", "bool", "0"), 20, Target::kKernels) ==
        "the extreme of nothing is the type's own");
}
