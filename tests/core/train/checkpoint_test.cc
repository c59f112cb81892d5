#include "core/train/checkpoint.h"

#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt::test {
namespace {

train::TrainingGraphs graphs(double first) {
  train::TrainingGraphs g;
  g.state = std::make_shared<StateStore>();
  g.state->add("w", tensor({2}, {first, 2}));
  g.state->add("w/momentum", tensor({2}, {first + 1, 3}));
  g.state->add("w/gradient", tensor({2}, {9, 9}));
  g.state->add("mean", tensor({}, {first + 2}, DType::kBF16));
  g.parameters = {"w"};
  g.statistics = {"mean"};
  g.parameter_updates = {{"w", "a"}, {"w/momentum", "b"}};
  g.gradient_updates = {{"w/gradient", "c"}, {"mean", "d"}};
  return g;
}

/// Changes a bit of the first float32 of that value in the file.
void flip_number(const std::string& path, float value) {
  std::string bytes = read_file(path);
  const size_t at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  REQUIRE(at != std::string::npos);
  bytes[at + 1] ^= 4;
  std::ofstream(path, std::ios::binary) << bytes;
}

const auto kQuiet = [](const std::string& text) { FAIL(text); };

}  // namespace

TEST_CASE("a checkpoint gives back the state and where the training stood") {
  const TempDir folder;
  const std::string path = folder / "deep" + "/er";
  train::open_checkpoints(path, false);
  save_checkpoint(path, graphs(5), {12, 0.1, "recipe"});
  const train::TrainingGraphs later = graphs(0);
  const auto standing = load_checkpoint(path, later, "recipe", kQuiet);
  REQUIRE(standing);
  CHECK(standing->steps == 12);
  CHECK(standing->slower == 0.1);
  CHECK(!standing->best.score);
  require_close(later.state->at("w"), tensor({2}, {5, 2}), 0);
  require_close(later.state->at("w/momentum"), tensor({2}, {6, 3}), 0);
  require_close(later.state->at("mean"), tensor({}, {7}, DType::kBF16), 0);
  CHECK(read_npz(path + "/step-00000012.npz").size() == 7);
  CHECK(!load_checkpoint(folder / "none", later, "recipe", kQuiet));
}

TEST_CASE("a checkpoint gives back the best score, its weights and the epochs since") {
  const TempDir folder;
  train::open_checkpoints(folder / "c", false);
  train::Standing standing{12, 1, "recipe"};
  standing.best = {0.75, 3, {{"w", tensor({2}, {7, 8})}, {"mean", tensor({}, {4}, DType::kBF16)}}};
  save_checkpoint(folder / "c", graphs(5), standing);
  const train::TrainingGraphs later = graphs(0);
  const auto found = load_checkpoint(folder / "c", later, "recipe", kQuiet);
  REQUIRE(found);
  CHECK(found->best.score == 0.75);
  CHECK(found->best.epochs_since == 3);
  REQUIRE(found->best.weights.size() == 2);
  for (const auto& [name, value] : found->best.weights)
    require_close(value, name == "w" ? tensor({2}, {7, 8}) : tensor({}, {4}, DType::kBF16), 0);
  require_close(later.state->at("w"), tensor({2}, {5, 2}), 0);
}

TEST_CASE("the newest two are kept, and a damaged one gives way to the one before") {
  const TempDir folder;
  const std::string path = folder / "c";
  train::open_checkpoints(path, true);
  for (int64_t step : {1, 2, 10}) save_checkpoint(path, graphs(static_cast<double>(step)), {step, 1, "r"});
  CHECK(!std::filesystem::exists(path + "/step-00000001.npz"));
  flip_number(path + "/step-00000010.npz", 10);
  const train::TrainingGraphs later = graphs(0);
  std::vector<std::string> warnings;
  const auto standing = load_checkpoint(path, later, "r", [&](const std::string& text) { warnings.push_back(text); });
  REQUIRE(standing);
  CHECK(standing->steps == 2);
  require_close(later.state->at("w"), tensor({2}, {2, 2}), 0);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("step-00000010.npz") != std::string::npos);
}

TEST_CASE("a checkpoint from before recipes said all is taken, unless what it says differs") {
  const TempDir folder;
  const std::string path = folder / "c", file = path + "/step-00000001.npz";
  train::open_checkpoints(path, false);
  const auto takes = [&](const std::string& made_by, const std::string& wanted, bool older) {
    save_checkpoint(path, graphs(1), {1, 1, made_by});
    NamedTensors arrays = read_npz(file);
    if (older) std::erase_if(arrays, [](const auto& named) { return named.first == "train/version"; });
    write_npz(file, arrays);
    try {
      return load_checkpoint(path, graphs(0), wanted, kQuiet).has_value();
    } catch (const Error&) {
      return false;
    }
  };
  const std::string all = "r;momentum=0.5;loss-output=y;qat=w4";
  CHECK(takes("r;qat=w4", all, true));
  CHECK(takes("r;momentum=0.5;loss-output=y;patience=3;qat=w4", all, true));
  CHECK(!takes("r;momentum=0.6;qat=w4", all, true));
  CHECK(!takes("r", all, true));
  CHECK(!takes("r;qat=w4", all, false));
}

TEST_CASE("a checkpoint of another training is refused") {
  const TempDir folder;
  const std::string path = folder / "c";
  train::open_checkpoints(path, false);
  save_checkpoint(path, graphs(1), {1, 1, "one"});
  train::TrainingGraphs later = graphs(0);
  CHECK(says(thrown_by([&] { load_checkpoint(path, later, "two", kQuiet); }), "of another training"));
  later.state->add("v", tensor({1}, {0}));
  later.parameter_updates.push_back({"v", "e"});
  CHECK(says(thrown_by([&] { load_checkpoint(path, later, "one", kQuiet); }), "lacks 'v'"));
  CHECK(says(thrown_by([&] { train::open_checkpoints(path, false); }), "checkpoints of an earlier training"));
  train::open_checkpoints(path, true);
  CHECK(says(thrown_by([&] { train::open_checkpoints("/proc/none", false); }), "/proc/none"));
}

}  // namespace mlopt::test
