#include "core/base/named.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"

using namespace mlopt;

TEST_CASE("a row of a table is found by its name") {
  struct Row {
    std::string_view name;
    int value;
  };
  static constexpr Row kRows[] = {{"one", 1}, {"two", 2}};
  const std::span<const Row> rows = kRows;
  REQUIRE(find_named(rows, "two"));
  CHECK(find_named(rows, "two")->value == 2);
  CHECK(find_named(rows, "three") == nullptr);
  CHECK(find_named(std::span<const Row>(), "one") == nullptr);
  CHECK(require_named(rows, "one", "number", "--number").value == 1);
  const std::string said = test::error_of([&] { require_named(rows, "twoo", "number", "--number"); });
  CHECK(test::contains(said, "no number is called 'twoo'"));
  CHECK(test::contains(said, "did you mean 'two'?"));
}
