#include "cli/train/offload.h"

#include "cli/backends.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt::cli {

TEST_CASE("--offload is for a GPU") {
  TrainOptions options;
  check_offload(options, "cpu");
  options.offload = "activations";
  check_offload(options, "gpu");
  check_offload(options, "gpu:1");
  const Error unnamed = test::thrown_by([&] { check_offload(options, ""); });
  CHECK(test::says(unnamed, default_device() + " computes"));
  for (const char* device : {"cpu", "reference"})
    CHECK(test::says(test::thrown_by([&] { check_offload(options, device); }), "--offload is for a GPU"));
}

TEST_CASE("the report says what offloading moved, in bytes, seconds and as a share") {
  Report report;
  const train::Offloaded done{.values = 3, .bytes = 50'000'000, .bytes_before = 90'000'000, .bytes_after = 40'000'000};
  report_offload(done, {100'000'000, 0.004}, 0.02, report);
  const Json& json = report.data["offload"];
  CHECK(json.find("values")->integer() == 3);
  CHECK(json.find("share")->number() == Approx(0.2));
  CHECK(json.find("bytes")->integer() == 100'000'000);
  Report none;
  report_offload({}, {}, 1, none);
  CHECK(none.data.find("offload") == nullptr);
}

}  // namespace mlopt::cli
