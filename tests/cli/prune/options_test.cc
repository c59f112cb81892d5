#include <string>

#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("options of a training are refused where prune trains nothing") {
  const test::ProductFiles files;
  const auto prune = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"prune", files.model, "-o", files.out, "--sparsity", "0.5", "--no-bench"});
    return run_mlopt(options);
  };
  for (const std::vector<std::string>& option : {std::vector<std::string>{"--epochs", "2"},
                                                 {"--lr", "0.1"},
                                                 {"--resume"},
                                                 {"--qat", "w8a8"},
                                                 {"--temperature", "2"},
                                                 {"--recover", "none", "--steps", "1"}}) {
    const test::Outcome done = prune(option);
    INFO(done.err);
    CHECK(done.status == 2);
    CHECK(done.err.find("nothing is trained") != std::string::npos);
  }
  CHECK(prune({"--data", files.data, "--recover", "distill", "--steps", "1", "--batch-size", "8"}).status == 0);
}

TEST_CASE("prune writes its report as a page") {
  const test::ProductFiles files;
  const std::string html = files.folder / "report.html";
  REQUIRE(
      run_mlopt({"prune", files.model, "-o", files.out, "--sparsity", "0.5", "--no-bench", "--html", html}).status ==
      0);
  CHECK(read_file(html).find("sparsity") != std::string::npos);
}
