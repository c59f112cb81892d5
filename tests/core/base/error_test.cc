#include "core/base/error.h"

#include "core/base/expected.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::thrown_by;

TEST_CASE("an error says what, where and the fix in two lines") {
  CHECK(std::string(Error(Code::kBadInput, "no such file", "m.onnx", "check the path").what()) ==
        "error: no such file: m.onnx\n  fix: check the path");
  CHECK(std::string(Error(Code::kBadInput, "no such file").what()) == "error: no such file");
}

TEST_CASE("each helper throws its exit status") {
  CHECK(thrown_by([] { usage_error("w"); }).code == Code::kUsage);
  CHECK(thrown_by([] { input_error("w"); }).code == Code::kBadInput);
  CHECK(thrown_by([] { unsupported_error("w"); }).code == Code::kUnsupported);
  const Error bug = thrown_by([] { internal_error("sum is negative", "here"); });
  CHECK(bug.code == Code::kInternal);
  CHECK(test::says(bug, "sum is negative"));
  CHECK(static_cast<int>(bug.code) == 70);
}

TEST_CASE("an Expected holds a value or the reason why there is none") {
  const Expected<std::string> yes("value"), no(Decline{"two readers"});
  REQUIRE(yes);
  CHECK(*yes == "value");
  CHECK(yes->size() == 5);
  REQUIRE_FALSE(no);
  CHECK(no.error().reason == "two readers");
}
