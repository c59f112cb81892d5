#include "cli/backends.h"

#include "core/base/error.h"
#include "tests/support/catch.h"

namespace mlopt::cli {

TEST_CASE("names of devices say which GPU, who helps it and whether algorithms are timed") {
  CHECK(gpu_index("gpu") == 0);
  CHECK(gpu_index("gpu:2") == 2);
  CHECK(gpu_index("gpu:2+cpu+tune") == 2);
  CHECK(gpu_index("gpu+tune") == 0);
  CHECK_FALSE(gpu_index("cpu"));
  CHECK_FALSE(gpu_index("gpus"));
  CHECK_THROWS_AS(gpu_index("gpu:x"), Error);
  CHECK(with_fallback("cpu,gpu:1", "cpu") == "cpu,gpu:1+cpu");
  CHECK(with_autotune(with_fallback("gpu", "cpu"), true) == "gpu+cpu+tune");
  CHECK(with_autotune("gpu+tune", true) == "gpu+tune");
  CHECK(with_autotune("cpu", false) == "cpu");
  CHECK_THROWS_AS(with_autotune("cpu", true), Error);
  CHECK_THROWS_AS(with_fallback("gpu", "gpu"), Error);
  CHECK_NOTHROW(require_device_names("cpu,gpu:1+cpu+tune"));
  CHECK_THROWS_AS(require_device_names("gpu+faster"), Error);
}

}  // namespace mlopt::cli
