#include "cli/quantize/within_gates.h"

#include <fmt/core.h>

#include <filesystem>
#include <string>

#include "tests/support/catch.h"
#include "tests/support/product_files.h"
#include "tests/support/program.h"

using namespace mlopt;

TEST_CASE("the least size that is named is that of the file which it gives") {
  const test::ProductFiles files;
  const auto quantize = [&](int64_t allowed) {
    return test::run_mlopt({"quantize", files.model, "-o", files.out, "--no-bench", "--data", files.data, "--to",
                            fmt::format("mixed:size={}", allowed)});
  };
  int64_t least = 1000;
  for (int i = 0; i < 2; ++i) {  // the second with as many digits as the size that is named, for the file has them
    const test::Outcome refused = quantize(least - 1);
    INFO(refused.err);
    REQUIRE(refused.status == 2);
    least = std::stoll(refused.err.substr(refused.err.find("takes ") + 6));
  }
  const test::Outcome done = quantize(least);
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(static_cast<int64_t>(std::filesystem::file_size(files.out)) == least);
}
