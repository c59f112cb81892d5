#include "core/data/tokenizers/piece_tree.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("pieces are found, and those that a text begins with") {
  const PieceTree tree({{"ab", 3}, {"a", 1}, {"abcd", 4}, {"b\xff", 7}, {"", 9}});
  CHECK(tree.find("ab") == 3);
  CHECK(tree.find("abcd") == 4);
  CHECK(tree.find("b\xff") == 7);
  CHECK(!tree.find("abc"));
  CHECK(!tree.find("b"));
  CHECK(!tree.find(""));
  std::vector<std::pair<size_t, int64_t>> found;
  tree.for_each_prefix("abcx", [&](size_t bytes, int64_t id) { found.emplace_back(bytes, id); });
  CHECK(found == std::vector<std::pair<size_t, int64_t>>{{1, 1}, {2, 3}});
  CHECK(tree.longest_prefix("abcde") == 4);
  CHECK(tree.longest_prefix("c") == 0);
  CHECK(tree.longest_prefix("") == 0);
  CHECK(PieceTree({}).longest_prefix("a") == 0);
}
