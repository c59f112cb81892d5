#include "core/exec/plugin.h"

#include "core/base/error.h"
#include "mlopt_build.h"
#include "tests/support/catch.h"

using namespace mlopt;
using Catch::Matchers::Contains;

namespace {

std::string error_of(const std::string& name, std::string_view build_id) {
  try {
    load_plugin(name, build_id);
  } catch (const Error& e) {
    CHECK(e.code == Code::kUnsupported);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a plugin of this build is opened") {
  const Plugin& plugin = load_plugin("test", MLOPT_BUILD_ID);
  CHECK(plugin.build_id == std::string_view(MLOPT_BUILD_ID));
  CHECK(&plugin == &load_plugin("test", MLOPT_BUILD_ID));
}

TEST_CASE("a plugin of another build is refused") {
  CHECK_THAT(error_of("test", "0.0.0-other"), Contains("another build") && Contains("libmlopt_test.so"));
}

TEST_CASE("a missing plugin is named") {
  CHECK_THAT(error_of("nowhere", MLOPT_BUILD_ID), Contains("libmlopt_nowhere.so"));
}
