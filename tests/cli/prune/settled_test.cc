#include "cli/prune/settled.h"

#include <filesystem>

#include "cli/output.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/prune_files.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

/// A training of channels that is cut off behind its first epoch and then gone on with.
struct CutOff {
  test::PruneFiles files;
  const std::string folder = files.folder / "checkpoints", labelled = files.labelled();

  test::Outcome prune(std::vector<std::string> options) const {
    options.insert(options.end(), {"--granularity", "channel", "--data", labelled, "--batch-size", "16", "--epochs",
                                   "2", "--bench", "0.01", "--checkpoint", folder});
    return files.prune(options);
  }
  void cut() const { std::filesystem::remove(std::filesystem::path(folder) / "step-00000008.npz"); }
  Tensor first() const { return *read_model(files.out).graph->find("V")->constant; }
};

}  // namespace

TEST_CASE("what a pruning measured is kept with the checkpoints of the training behind it") {
  const CutOff run{};
  const std::vector<std::string> how = {"--sparsity", "0.4", "--round", "auto", "--recover", "train"};
  REQUIRE(run.prune(how).status == 0);
  const Tensor whole = run.first();
  cli::TrainOptions options;
  options.checkpoint = run.folder;
  options.resume = true;
  const prune::Spec asked = prune::parse_spec("magnitude:granularity=channel;sparsity=0.4;round=auto");
  const auto settled = cli::settled_before(options, asked);
  REQUIRE(settled);
  CHECK(settled->round != prune::kAutoRound);
  run.cut();
  std::vector<std::string> again = how;
  again.emplace_back("--resume");
  const test::Outcome done = run.prune(again);
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(run.first().dims() == whole.dims());
  CHECK(to_floats(run.first()) == to_floats(whole));

  const prune::Spec other = prune::parse_spec("magnitude:granularity=channel;sparsity=0.3;round=auto");
  CHECK(test::thrown_by([&] { cli::settled_before(options, other); }).message.find("of another training") !=
        std::string::npos);
  options.resume = false;
  CHECK_FALSE(cli::settled_before(options, asked));
}

TEST_CASE("the share that a target of time came to is the same when its training goes on") {
  const CutOff run{};
  REQUIRE(run.prune({"--sparsity", "0.25", "--round", "none", "--prune-schedule", "gradual"}).status == 0);
  run.cut();
  cli::write_text(std::filesystem::path(run.folder) / "pruning.json",
                  Json::object({{"asked", "magnitude:granularity=channel;latency=0.9;round=none;schedule=gradual"},
                                {"settled", "magnitude:granularity=channel;sparsity=0.25;round=none;schedule=gradual"}})
                      .dump());
  const test::Outcome done =
      run.prune({"--latency", "0.9x", "--round", "none", "--prune-schedule", "gradual", "--resume"});
  INFO(done.err);
  CHECK(done.status == 0);
  CHECK(run.first().dims() == Dims{32, 48});
}
