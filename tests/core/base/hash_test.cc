#include "core/base/hash.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

namespace {

std::string digest(const std::string& text) {
  Hash hash;
  hash.add(std::as_bytes(std::span(text)));
  return hash.digest();
}

}  // namespace

TEST_CASE("the digest is XXH3's, whatever the pieces") {
  // xxhsum -H128 of no bytes.
  CHECK(digest("") == "xxh3:99aa06d3014798d86001c324468d497f");
  const test::TempDir folder;
  const std::string text(3 << 20, 'x');
  Hash pieces;
  pieces.add(std::as_bytes(std::span(text).first(1000)));
  pieces.add(std::as_bytes(std::span(text).subspan(1000)));
  Hash file;
  file.add_file(folder.write("f", text));
  CHECK(pieces.digest() == digest(text));
  CHECK(file.digest() == digest(text));
  CHECK(digest("a") != digest("b"));
  CHECK_THROWS_AS(Hash().add_file(folder / "missing"), Error);
}
