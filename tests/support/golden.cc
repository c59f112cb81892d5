#include "tests/support/golden.h"

#include <cstdlib>

#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

namespace mlopt::test {

void check_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = source_dir() / "tests" / name;
  if (std::getenv("MLOPT_UPDATE_GOLDEN")) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
  }
  INFO(name << ": to accept a change run this test again with MLOPT_UPDATE_GOLDEN=1");
  REQUIRE(std::filesystem::exists(path));
  CHECK(text == read_file(path));
}

}  // namespace mlopt::test
