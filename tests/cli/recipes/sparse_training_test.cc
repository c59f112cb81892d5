#include "cli/recipes/sparse_training.h"

#include <fmt/core.h>

#include <filesystem>

#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/prune_files.h"

namespace mlopt::test {
namespace {

using Files = PruneFiles;

}  // namespace

TEST_CASE("regularization and dropout train what is to go to zero, and then remove it") {
  const Files files;
  const std::string labelled = files.labelled();
  struct Case {
    const char *method, *granularity, *spec;
  };
  for (const Case& c : {Case{"regularization", "element", ""}, Case{"regularization", "channel", ""},
                        Case{"regularization:penalty=greg", "element", ";penalty=greg"},
                        Case{"regularization:penalty=greg", "channel", ";penalty=greg"},
                        Case{"regularization:penalty=l0", "channel", ";penalty=l0;seed=0"},
                        Case{"dropout", "element", ";seed=0"}, Case{"dropout", "channel", ";seed=0"},
                        Case{"dropout:dropout=variational", "element", ";dropout=variational;seed=0"}}) {
    const bool channels = c.granularity == std::string("channel");
    const Outcome done =
        files.prune({"--method", c.method, "--granularity", c.granularity, "--sparsity", "0.5", "--data", labelled,
                     "--batch-size", "16", "--epochs", "20", "--lr", "0.01", "--json", "-"});
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    CHECK(report.find("changes")->find("updates")->integer() == 80);
    const std::string method = std::string(c.method).substr(0, std::string(c.method).find(':'));
    CHECK(report.find("spec")->string().find(
              fmt::format("{}:granularity={};sparsity=0.5{} by train:", method, c.granularity, c.spec)) == 0);
    const Model written = read_model(files.out);
    const Tensor &v = *written.graph->find("V")->constant, &w = *written.graph->find("W")->constant;
    CHECK(v.dims() == Dims{32, channels ? 32 : 64});
    CHECK(w.dims() == Dims{channels ? 32 : 64, 32});
    if (channels) continue;
    int64_t zeros = 0;
    for (const Tensor* t : {&v, &w})
      for (const float x : to_floats(*t)) zeros += x == 0;
    CHECK(zeros == 32 * 64);
  }
}

TEST_CASE("a schedule removes in the course of a training") {
  const Files files;
  const std::string labelled = files.labelled();
  struct Case {
    std::vector<std::string> options;
    std::string spec;
    int64_t updates;
  };
  for (const Case& c :
       {Case{{"--prune-schedule", "gradual"}, "magnitude:granularity=element;sparsity=0.5;schedule=gradual", 20},
        Case{{"--prune-schedule", "gradual", "--granularity", "block=2x2", "--recover", "distill"},
             "magnitude:granularity=block=2x2;sparsity=0.5;schedule=gradual",
             20},
        Case{{"--method", "wanda", "--prune-schedule", "gradual", "--prune-every", "5"},
             "wanda:granularity=element;sparsity=0.5;schedule=gradual;every=5",
             20},
        Case{{"--method", "movement"}, "movement:granularity=element;sparsity=0.5", 20},
        Case{{"--prune-schedule", "lottery", "--iterations", "2", "--rewind-to", "4"},
             "magnitude:granularity=element;sparsity=0.5;schedule=lottery;rewind=4;iterations=2",
             20 + 16 + 16},
        Case{
            {"--prune-schedule", "rate-rewind"}, "magnitude:granularity=element;sparsity=0.5;schedule=rate-rewind", 40},
        Case{{"--method", "movement", "--granularity", "2:4"}, "movement:granularity=2:4;sparsity=0.5", 20},
        Case{{"--prune-schedule", "gradual", "--granularity", "1:2"},
             "magnitude:granularity=1:2;sparsity=0.5;schedule=gradual",
             20}}) {
    std::vector<std::string> options = {"--sparsity", "0.5", "--data", labelled, "--batch-size", "16",
                                        "--epochs",   "5",   "--lr",   "0.01",   "--json",       "-"};
    options.insert(options.end(), c.options.begin(), c.options.end());
    const Outcome done = files.prune(options);
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    CHECK(report.find("changes")->find("updates")->integer() == c.updates);
    CHECK(report.find("spec")->string().find(c.spec + " by ") == 0);
    CHECK(report.find("warnings")->items().empty());
    for (const Json& layer : report.find("layers")->items()) CHECK(layer.find("zeros_before")->integer() == 0);
    const Model written = read_model(files.out);
    int64_t zeros = 0;
    for (const char* name : {"V", "W"})
      for (const float x : to_floats(*written.graph->find(name)->constant)) zeros += x == 0;
    CHECK(zeros == 32 * 64);
  }
}

TEST_CASE("a schedule of channels ends in a smaller model") {
  const Files files;
  const std::string labelled = files.labelled();
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--prune-schedule", "gradual", "--flops", "50%"},
        {"--prune-schedule", "rate-rewind", "--sparsity", "0.5", "--iterations", "2"},
        {"--prune-schedule", "gradual", "--sparsity", "0.5", "--method", "taylor", "--recover", "distill"}}) {
    std::vector<std::string> options = {"--granularity", "channel", "--data", labelled, "--batch-size", "16",
                                        "--epochs",      "5",       "--lr",   "0.01",   "--json",       "-"};
    options.insert(options.end(), how.begin(), how.end());
    const Outcome done = files.prune(options);
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    CHECK(report.find("spec")->string().find("granularity=channel;sparsity=") != std::string::npos);
    const Model written = read_model(files.out);
    CHECK(written.graph->find("V")->constant->dims() == Dims{32, 32});
    CHECK(written.graph->find("W")->constant->dims() == Dims{32, 32});
  }
}

TEST_CASE("a gradual pruning that was resumed is the one that was not") {
  const Files files;
  const std::string folder = files.folder / "checkpoints";
  const std::vector<std::string> options = {
      "--sparsity",   "0.5", "--prune-schedule", "gradual", "--data", files.labelled(),
      "--batch-size", "16",  "--epochs",         "4"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    const Outcome done = files.prune(more);
    INFO(done.err);
    REQUIRE(done.status == 0);
    return to_floats(*read_model(files.out).graph->find("W")->constant);
  };
  const std::vector<float> whole = with({"--checkpoint", folder, "--checkpoint-every", "5"});
  // The newest but one becomes the newest: masks come from it.
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().filename().string() >= "step-00000016.npz") std::filesystem::remove(file.path());
  CHECK(with({"--checkpoint", folder, "--checkpoint-every", "5", "--resume"}) == whole);
}

TEST_CASE("a training that does not go with what is removed in it is refused before it begins") {
  const Files files;
  struct Case {
    std::vector<std::string> options;
    int status;
    std::string said;
  };
  for (const Case& c :
       {Case{{"--prune-schedule", "gradual"}, 2, "training needs data"},
        Case{{"--prune-schedule", "gradul"}, 2, "did you mean 'gradual'"},
        Case{{"--prune-schedule", "lottery", "--checkpoint", "c", "--data", files.data}, 4, "cannot be resumed yet"},
        Case{{"--prune-schedule", "gradual", "--patience", "1", "--data", files.data}, 2, "the best weights may be"},
        Case{{"--prune-schedule", "gradual", "--qat", "w8a8", "--data", files.data}, 4, "prune first"},
        Case{{"--penalty", "greg"}, 2, "magnitude pulls at nothing"},
        Case{{"--method", "regularization", "--penalty", "slimming"}, 2, "no penalty 'slimming'"},
        Case{{"--method", "regularization", "--allocation", "lamp"}, 4, "not supported yet"},
        Case{{"--method", "regularization", "--granularity", "channel", "--penalty", "slimming", "--data",
              files.labelled()},
             3,
             "has a scale that is trained"},
        Case{{"--prune-every", "3"}, 2, "only --prune-schedule gradual"},
        Case{{"--rewind-to", "3"}, 2, "go back to an update"},
        Case{{"--prune-schedule", "gradual", "--granularity", "layer"}, 2, "there or not"}}) {
    std::vector<std::string> options = {"--sparsity", "0.5"};
    options.insert(options.end(), c.options.begin(), c.options.end());
    const Outcome refused = files.prune(options);
    INFO(refused.err);
    CHECK(refused.status == c.status);
    CHECK(refused.err.find(c.said) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(files.out));
  }
}

}  // namespace mlopt::test
