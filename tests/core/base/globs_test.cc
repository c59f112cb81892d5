#include "core/base/globs.h"

#include "tests/support/catch.h"

using namespace mlopt;
using Names = std::vector<std::string>;

TEST_CASE("a spec is cut at its separators, but not behind a backslash") {
  CHECK(spec_pieces("", ';').empty());
  CHECK(spec_pieces("a;;b", ';') == Names{"a", "", "b"});
  CHECK(spec_pieces("a\\;b;c", ';') == Names{"a\\;b", "c"});
}

TEST_CASE("globs are read as they were printed") {
  const Names globs = {"a;b", "c|d", "e\\f", "/head/*"};
  Names again = {"kept"};
  add_globs(print_globs(globs), again);
  CHECK(again == Names{"kept", "a;b", "c|d", "e\\f", "/head/*"});
}
