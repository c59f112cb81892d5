#include "backends/gpu/tuning.h"

#include <filesystem>
#include <fstream>

#include "backends/gpu/backend.h"
#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"
#include "tests/support/temp_dir.h"

namespace mlopt::test {
namespace {

/// What the plugin was told, and what it says that it has timed.
std::vector<gpu::Choice>& told() {
  static std::vector<gpu::Choice> choices;
  return choices;
}
std::vector<gpu::Choice>& timed() {
  static std::vector<gpu::Choice> choices;
  return choices;
}

GpuInterface tuned_interface() {
  GpuInterface api = gpu::gpu_interface();
  api.tune = [](gpu::Queue*, const gpu::Choice* known, int64_t count) { told().assign(known, known + count); };
  api.chosen = [](gpu::Queue*, gpu::Choice* into) {
    if (into) std::copy(timed().begin(), timed().end(), into);
    return static_cast<int64_t>(timed().size());
  };
  return api;
}

gpu::Choice choice(int64_t m, uint64_t algorithm) {
  gpu::Choice made{};
  made.product[4] = m;
  made.product[9] = -7;
  made.algorithm[0] = algorithm;
  made.algorithm[7] = ~uint64_t{0};
  return made;
}

/// How many choices a new Tuning of the folder gives a queue.
size_t known(const GpuInterface& api, const std::string& folder) {
  gpu::WorkQueue queue({&api, 0});
  gpu::Tuning({&api, 0}, folder).begin(queue);
  return told().size();
}

void replace(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("what was timed is known to later runs of the same GPU, driver and library, and only there") {
  const TempDir folder;
  GpuInterface api = tuned_interface();
  const std::string cache = folder / "a/b";
  gpu::Tuning tuning({&api, 0}, cache);
  gpu::WorkQueue queue({&api, 0});
  timed().clear();
  tuning.note(queue);
  CHECK_FALSE(std::filesystem::exists(tuning.path()));
  timed() = {choice(3, 11), choice(4, 12)};
  tuning.note(queue);
  REQUIRE(known(api, cache) == 2);
  CHECK(std::equal(told()[0].product, told()[0].product + 14, choice(3, 11).product));
  CHECK(std::equal(told()[1].algorithm, told()[1].algorithm + 8, choice(4, 12).algorithm));
  timed() = {choice(4, 99), choice(5, 13)};
  gpu::Tuning({&api, 0}, cache).note(queue);
  CHECK(known(api, cache) == 3);
  GpuInterface other = api;
  other.describe = [](int, gpu::DeviceInfo* info) -> gpu::Status {
    *info = {};
    info->major = 9;
    info->cublas = 130001;
    return nullptr;
  };
  CHECK(known(other, cache) == 0);
}

TEST_CASE("what two processes have timed at once is known to later ones") {
  const TempDir folder;
  const GpuInterface api = tuned_interface();
  gpu::WorkQueue queue({&api, 0});
  gpu::Tuning first({&api, 0}, folder.path()), second({&api, 0}, folder.path());
  timed() = {choice(3, 11), choice(4, 12)};
  first.note(queue);
  timed() = {choice(4, 99), choice(5, 13)};
  second.note(queue);
  REQUIRE(known(api, folder.path()) == 3);
  CHECK(told()[0].algorithm[0] == 11);
  CHECK(told()[1].algorithm[0] == 99);
}

TEST_CASE("damaged and foreign files of what was timed count for nothing and are replaced") {
  const TempDir folder;
  const GpuInterface api = tuned_interface();
  gpu::WorkQueue queue({&api, 0});
  timed() = {choice(3, 11), choice(4, 12)};
  const std::string path = gpu::Tuning({&api, 0}, folder.path()).path();
  gpu::Tuning({&api, 0}, folder.path()).note(queue);
  const std::string good = read_file(path);
  REQUIRE(known(api, folder.path()) == 2);
  const size_t end = good.find("end ");
  for (const std::string& bad :
       {std::string(), std::string("\0\xff\n", 3), "x" + good, good.substr(0, end), good.substr(0, end) + "end 1\n",
        good.substr(0, end - 9) + "\nend 2\n", good.substr(0, good.find('\n') + 1) + "1 2 x\nend 1\n"}) {
    replace(path, bad);
    INFO(bad);
    CHECK(known(api, folder.path()) == 0);
    gpu::Tuning({&api, 0}, folder.path()).note(queue);
    CHECK(read_file(path) == good);
  }
  replace(folder / "file", "");
  gpu::Tuning({&api, 0}, folder / "file").note(queue);  // cannot be written: no error
}

TEST_CASE("a run with --autotune notes what its queue has timed") {
  const TempDir folder;
  const GpuInterface api = tuned_interface();
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string old = before ? before : "";
  ::setenv("XDG_CACHE_HOME", std::string(folder.path()).c_str(), 1);
  timed() = {choice(3, 11)};
  const Tensor x = uniform({4, 4}, 0, 1);
  GpuHost host;
  host.autotune = true;
  gpu_backend(api, 0, host)->compile(one_node("MatMul", {x, x}, {}, 1), {})->run(std::vector<Datum>{x});
  before ? ::setenv("XDG_CACHE_HOME", old.c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
  CHECK(known(api, folder / "mlopt") == 1);
}

}  // namespace mlopt::test
