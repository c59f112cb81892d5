#include "cli/verb/origin.h"

#include "core/base/file.h"
#include "core/onnx/io.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

std::string fused(const std::string& model, const std::string& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> args{"fuse", model, "-o", out, "--no-bench"};
  args.insert(args.end(), more.begin(), more.end());
  const test::Outcome outcome = run_mlopt(args);
  INFO(outcome.err);
  REQUIRE(outcome.status == 0);
  return read_file(out);
}

std::string hash_in(const std::string& path) {
  for (const auto& [key, value] : read_model(path).metadata)
    if (key == "mlopt.source_hash") return value;
  return {};
}

}  // namespace

TEST_CASE("what was made before and is the same again keeps its origin, byte by byte") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  const std::string once = fused(model, folder / "once.onnx"),
                    twice = fused(folder / "once.onnx", folder / "twice.onnx");
  CHECK(once == twice);
  CHECK(hash_in(folder / "twice.onnx") == cli::source_hash(read_model(model)));
}

TEST_CASE("what is made in another way comes from the file that it was made from") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  fused(model, folder / "once.onnx");
  fused(folder / "once.onnx", folder / "other.onnx", {"--no-passes", "fuse_gelu"});
  CHECK(hash_in(folder / "other.onnx") == cli::source_hash(read_model(folder / "once.onnx")));
}
