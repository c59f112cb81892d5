#include "cli/busy.h"

#include "tests/support/catch.h"

using mlopt::cli::is_busy;

TEST_CASE("a machine is busy where the others leave fewer processors than there are threads") {
  CHECK(is_busy("8.39 11.69 12.12 9/300 1234", 2, 2));
  CHECK(is_busy("0.00 0.00 0.00 2/300 1234", 2, 2));
  CHECK_FALSE(is_busy("8.39 11.69 12.12 1/300 1234", 2, 2));  // only we run now
  CHECK_FALSE(is_busy("8.39 11.69 12.12 15/300 1234", 16, 2));
  CHECK(is_busy("8.39 11.69 12.12 16/300 1234", 16, 2));
}

TEST_CASE("a single thread waits for nobody, and text of another form says nothing") {
  CHECK_FALSE(is_busy("8.39 11.69 12.12 9/300 1234", 2, 1));
  CHECK_FALSE(is_busy("", 2, 2));
  CHECK_FALSE(is_busy("/", 2, 2));
  CHECK_FALSE(is_busy("8.39 11.69 12.12 x9/300 1234", 2, 2));
}
