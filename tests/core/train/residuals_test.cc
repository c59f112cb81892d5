#include "core/train/residuals.h"

#include <filesystem>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/ranks.h"
#include "tests/support/temp_dir.h"

namespace mlopt::test {
namespace {

StateStore values() {
  StateStore state;
  state.add("a", tensor({2}, {0, 0}));
  state.add("b", tensor({1}, {0}));
  return state;
}

NamedTensors residuals_of(int rank) {
  const double r = rank + 1;
  return {{"b", tensor({1}, {r})}, {"a", tensor({2}, {10 * r, 20 * r})}};
}

/// What each of so many ranks finds.
std::vector<NamedTensors> found_by(int count, const std::string& folder, int64_t steps,
                                   const std::vector<std::string>& names = {"a", "b"}) {
  std::vector<NamedTensors> found(static_cast<size_t>(count));
  with_ranks(count, [&](train::Communicator& ranks) {
    found[static_cast<size_t>(ranks.rank())] = train::load_residuals(folder, steps, ranks, names, values());
  });
  return found;
}

}  // namespace

TEST_CASE("each rank finds its own residuals, or none does") {
  const TempDir folder;
  const std::string path = folder / ".";
  with_ranks(2, [&](train::Communicator& ranks) {
    for (const int64_t steps : {3, 6, 9}) train::save_residuals(path, steps, ranks, residuals_of(ranks.rank()));
    train::save_residuals(path, 12, ranks, {});
  });
  const std::vector<NamedTensors> found = found_by(2, path, 6);
  for (size_t rank = 0; rank < 2; ++rank) {
    REQUIRE(found[rank].size() == 2);
    CHECK(found[rank][0].first == "b");  // in their order
    CHECK(to_doubles(found[rank][1].second) == to_doubles(residuals_of(static_cast<int>(rank))[1].second));
  }
  const auto none = [&](int count, int64_t steps, const std::vector<std::string>& names = {"a", "b"}) {
    for (const NamedTensors& one : found_by(count, path, steps, names))
      if (!one.empty()) return false;
    return true;
  };
  CHECK(none(2, 3));  // only two are kept
  CHECK(none(2, 12));
  CHECK(none(3, 9));
  CHECK(none(2, 9, {"a"}));
  CHECK(!none(2, 9));
  std::filesystem::resize_file(folder / "owed-00000009-rank-1-of-2.npz", 10);
  CHECK(none(2, 9));
}

}  // namespace mlopt::test
