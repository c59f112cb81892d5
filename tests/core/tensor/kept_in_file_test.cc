#include "core/tensor/kept_in_file.h"

#include <filesystem>

#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

TEST_CASE("a tensor that is kept in a file has the same bytes, also when its memory was let go") {
  const test::TempDir dir;
  const Tensor source = test::uniform({300, 40}, -1, 1);
  const Tensor kept = kept_in_file(source, dir.path().string());
  CHECK(kept.is_view());
  CHECK(std::filesystem::is_empty(dir.path()));
  CHECK(!mismatch(kept, source, 0, 0));
  kept.release_pages();
  CHECK(!mismatch(kept, source, 0, 0));
}

TEST_CASE("a tensor stays in memory where no file can be made") {
  const Tensor source = test::uniform({4}, -1, 1);
  CHECK(!kept_in_file(source, "/nonexistent/folder").is_view());
  CHECK(!kept_in_file(Tensor::of<float>({0}, {}), ".").is_view());
}
