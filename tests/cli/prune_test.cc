#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "backends/reference/backend.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/program.h"
#include "tests/support/prune_files.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

using Files = test::PruneFiles;

std::string metadata(const Model& model, const std::string& key) {
  for (const auto& [k, v] : model.metadata)
    if (k == key) return v;
  return {};
}

}  // namespace

TEST_CASE("prune writes zeros, and says where they are and what they are worth") {
  const Files files;
  const test::Outcome done = files.prune({"--sparsity", "50%", "--json", "-", "--skip", "second"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("spec")->string() == "magnitude:granularity=element;sparsity=0.5;skip=second");
  const auto& layers = report.find("layers")->items();
  REQUIRE(layers.size() == 1);
  CHECK(layers[0].find("layer")->string() == "first");
  CHECK(layers[0].find("sparsity")->number() == 0.5);
  CHECK(report.find("changes")->find("zeros")->integer() == 1024);
  CHECK(report.find("declined")->items().at(0).find("reason")->string() == "excluded by --only or --skip");
  CHECK(report.find("verify")->find("outputs")->items().at(0).find("max_abs")->number() > 0);
  CHECK(metadata(read_model(files.out), "mlopt.spec") == report.find("spec")->string());
  const test::Outcome words = files.prune({"--granularity", "2:4"});
  CHECK(words.out.find("3072 of 4096") == std::string::npos);
  CHECK(words.out.find("2048 of 4096 weights in 2 layers are zero (50.00 %)") != std::string::npos);
  CHECK(words.out.find("zeros alone make nothing faster") != std::string::npos);
}

TEST_CASE("prune takes the spec that it reports") {
  const Files files;
  REQUIRE(files.prune({"--method", "random", "--sparsity", "0.3", "--seed", "5", "--allocation", "global"}).status ==
          0);
  const Model first = read_model(files.out);
  const std::string spec = metadata(first, "mlopt.spec");
  CHECK(spec == "random:granularity=element;sparsity=0.3;allocation=global;seed=5");
  REQUIRE(files.prune({"--method", spec}).status == 0);
  const Model again = read_model(files.out);
  CHECK(to_floats(*first.graph->find("V")->constant) == to_floats(*again.graph->find("V")->constant));
}

TEST_CASE("of a spec that says how it was trained, prune takes what is removed") {
  const Files files;
  const std::vector<std::string> training = {"--data", files.labelled(), "--steps", "2", "--batch-size", "16"};
  const auto prune = [&](std::vector<std::string> options, bool trained) {
    if (trained) options.insert(options.end(), training.begin(), training.end());
    return files.prune(std::move(options));
  };
  REQUIRE(prune({"--method", "movement", "--sparsity", "0.3"}, true).status == 0);
  const std::string by = metadata(read_model(files.out), "mlopt.spec");
  REQUIRE(by.find(" by train:") != std::string::npos);
  REQUIRE(prune({"--method", by}, true).status == 0);
  CHECK(metadata(read_model(files.out), "mlopt.spec") == by);

  REQUIRE(prune({"--sparsity", "0.3", "--recover", "train"}, true).status == 0);
  const std::string then = metadata(read_model(files.out), "mlopt.spec");
  REQUIRE(then.find(" then train:") != std::string::npos);
  REQUIRE(prune({"--method", then, "--recover", "train"}, true).status == 0);
  CHECK(metadata(read_model(files.out), "mlopt.spec") == then);
  const test::Outcome untrained = prune({"--method", then}, false);
  CHECK(untrained.status == 2);
  CHECK(untrained.err.find("the spec goes on with a training") != std::string::npos);
  CHECK(prune({"--method", "dynamic:exit=a by train:data=x"}, false).err.find("--exit-at") != std::string::npos);
}

TEST_CASE("data that are made up are called so") {
  const Files files;
  const test::Outcome done = files.prune({"--sparsity", "0.5", "--method", "wanda", "--data", "random:4"});
  CHECK(done.status == 0);
  CHECK(done.err.find("random numbers are not what the model will see") != std::string::npos);
  CHECK(files.prune({"--sparsity", "0.5", "--data", "random:4"}).err.find("random numbers") == std::string::npos);
}

TEST_CASE("zeros need not be stored") {
  const Files files;
  REQUIRE(files.prune({"--sparsity", "0.9"}).status == 0);
  const std::string whole = files.folder / "whole.onnx";
  std::filesystem::rename(files.out, whole);
  const test::Outcome done = files.prune({"--sparsity", "0.9", "--sparse", "--json", "-", "--max-size", "50%"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  const auto size = std::filesystem::file_size(files.out);
  CHECK(size * 2 < std::filesystem::file_size(whole));
  CHECK(Json::parse(done.out).find("result")->find("size_bytes")->integer() == static_cast<int64_t>(size));
  const test::Outcome same = run_mlopt({"compare", whole, files.out, "--data", files.data, "--tolerance", "0"});
  CHECK(same.status == 0);
}

TEST_CASE("quantize keeps the zeros of a pruned model") {
  const Files files;
  REQUIRE(files.prune({"--sparsity", "0.6"}).status == 0);
  const Model pruned = read_model(files.out);
  for (const char* format : {"w8a8", "w8:emit=qdq"}) {
    const std::string small = files.folder / "q.onnx";
    REQUIRE(
        run_mlopt({"quantize", files.out, "-o", small, "--to", format, "--data", files.data, "--no-bench"}).status ==
        0);
    const Model quantized = read_model(small);
    int64_t checked = 0;
    for (const Value* v : quantized.graph->initializers()) {
      const std::string name = v->constant->dims() == Dims{32, 64}   ? "V"
                               : v->constant->dims() == Dims{64, 32} ? "W"
                                                                     : "";
      if (name.empty() || v->constant->dtype() != DType::kI8) continue;
      const auto before = to_floats(*pruned.graph->find(name)->constant), after = to_floats(*v->constant);
      for (size_t i = 0; i < before.size(); ++i)
        if (before[i] == 0) REQUIRE(after[i] == 0);
      ++checked;
    }
    CHECK(checked == 2);
  }
}

TEST_CASE("a search ends at the largest sparsity that holds") {
  const Files files;
  const std::string labels = files.folder / "l.npz";
  const Tensor x = test::uniform({64, 32}, -1, 1);
  // Its own arg-max as labels: nothing is lost at first, everything at last.
  const Model model = read_model(files.model);
  const Tensor y = reference_backend()->compile(model, {})->run(std::vector<Datum>{x})[0].tensor();
  std::vector<int64_t> best;
  for (int64_t n = 0; n < 64; ++n) {
    const auto row = y.span<float>().subspan(static_cast<size_t>(n) * 32, 32);
    best.push_back(std::max_element(row.begin(), row.end()) - row.begin());
  }
  write_npz(labels, {{"x", x}, {"label", Tensor::ints(best)}});
  const test::Outcome done = files.prune({"--sparsity", "auto", "--max-drop", "20", "--metric", "top1", "--data",
                                          labels, "--json", "-", "--method", "wanda"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  const auto& tried = report.find("search")->items();
  REQUIRE(tried.size() == 7);
  double largest = 0;
  for (const Json& one : tried)
    if (one.find("holds")->boolean()) largest = std::max(largest, one.find("sparsity")->number());
  CHECK(largest > 0);
  CHECK(report.find("spec")->string() == "wanda:granularity=element;sparsity=" + fmt::format("{}", largest));
  CHECK(files.prune({"--sparsity", "auto"}).err.find("--max-drop 1 --metric M") != std::string::npos);
}

TEST_CASE("what is left learns, by labels or from the source, and zeros stay") {
  const Files files;
  const std::string labelled = files.folder / "l.npz";
  const Tensor x = test::uniform({64, 32}, -1, 1);
  std::vector<int64_t> labels(64);
  for (size_t i = 0; i < 64; ++i) labels[i] = static_cast<int64_t>(i % 32);
  write_npz(labelled, {{"x", x}, {"label", Tensor::ints(labels)}});
  REQUIRE(files.prune({"--sparsity", "0.5", "--method", "wanda", "--data", labelled}).status == 0);
  const std::vector<float> masked = to_floats(*read_model(files.out).graph->find("V")->constant);
  for (const char* how : {"train", "distill", "lstsq,distill", "bn,train"}) {
    const test::Outcome done = files.prune({"--sparsity", "0.5", "--method", "wanda", "--data", labelled, "--recover",
                                            how, "--batch-size", "16", "--steps", "3", "--json", "-"});
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const std::vector<float> after = to_floats(*read_model(files.out).graph->find("V")->constant);
    size_t changed = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      if (masked[i] == 0) REQUIRE(after[i] == 0);
      changed += after[i] != masked[i];
    }
    CHECK(changed > after.size() / 3);
    const Json report = Json::parse(done.out);
    CHECK(report.find("pruning")->find("sparsity")->number() == 0.5);
    CHECK(report.find("changes")->find("updates")->integer() == 3);
    CHECK(report.find("spec")->string().find("wanda:granularity=element;sparsity=0.5") == 0);
  }
}

TEST_CASE("a training of what was pruned on other samples is not gone on with") {
  const Files files;
  const std::vector<std::string> options = {
      "--sparsity", "0.5",          "--method", "wanda",   "--data", files.labelled(), "--recover",
      "train",      "--batch-size", "16",       "--steps", "2",      "--checkpoint",   files.folder / "checkpoints"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return files.prune(more);
  };
  REQUIRE(with({"--calibration-samples", "40"}).status == 0);
  CHECK(with({"--calibration-samples", "40", "--resume"}).status == 0);
  for (const std::vector<std::string>& changed :
       {std::vector<std::string>{"--calibration-samples", "2", "--resume"}, {"--resume"}}) {
    const test::Outcome other = with(changed);
    CHECK(other.status == 3);
    CHECK(other.err.find("of another training") != std::string::npos);
  }
}

TEST_CASE("a training on other random data is not gone on with") {
  const Files files;
  const auto distill = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--sparsity", "0.5", "--data", "random:8", "--recover", "distill", "--batch-size", "4",
                             "--steps", "1", "--checkpoint", files.folder / "checkpoints"});
    return files.prune(more);
  };
  REQUIRE(distill({}).status == 0);
  const test::Outcome other = distill({"--range", "x=0:9", "--resume"});
  CHECK(other.status == 3);
  CHECK(other.err.find("of another training") != std::string::npos);
}

TEST_CASE("what is wrong is said before anything is written") {
  const Files files;
  struct Case {
    std::vector<std::string> options;
    int status;
    const char* said;
  };
  for (const Case& c :
       {Case{{"--sparsity", "1.5"}, 2, "from 0 to 1"},
        Case{{}, 2, "how much to remove is not said"},
        Case{{"--sparsity", "0.5", "--method", "magnitud"}, 2, "did you mean 'magnitude'"},
        Case{{"--sparsity", "0.5", "--only", "frist"}, 2, "did you mean 'first'"},
        Case{{"--sparsity", "0.5", "--granularity", "embedding"}, 3, "no dimension of the model can be removed"},
        Case{{"--sparsity", "0.5", "--granularity", "embedding", "--recover", "lstsq"}, 4, "train or distill"},
        Case{{"--sparsity", "0.5", "--allocation", "latency"}, 2, "zeros save no time"},
        Case{{"--sparsity", "0.5", "--granularity", "layer", "--round", "8"}, 2, "no widths to round"},
        Case{{"--sparsity", "0.5", "--granularity", "layer", "--allocation", "uniform"}, 2, "goes or stays"},
        Case{{"--sparsity", "0.5", "--granularity", "channel", "--method", "influence"}, 2, "of residual blocks"},
        Case{{"--sparsity", "0.5", "--method", "movement"}, 2, "training needs data"},
        Case{{"--sparsity", "0.5", "--method", "dropout"}, 2, "training needs data"},
        Case{{"--sparsity", "0.5", "--drop", "targeted"}, 2, "magnitude drops nothing"},
        Case{{"--sparsity", "0.5", "--method", "dropout", "--drop", "target"}, 2, "did you mean 'targeted'"},
        Case{{"--sparsity", "0.5", "--method", "dropout", "--drop", "variational", "--granularity", "channel"},
             2,
             "no dropout 'variational' of channel"},
        Case{{"--sparsity", "0.5", "--allocation", "amc"}, 4, "'amc' are not supported yet"},
        Case{{"--sparsity", "0.5", "--calibration-samples", "0"}, 2, "at least one sample"},
        Case{{"--sparsity", "0.5", "--recover", "distil"}, 2, "did you mean 'distill'"},
        Case{{"--sparsity", "0.5", "--recover", "train"}, 2, "training needs data"},
        Case{{"--sparsity", "0.5", "--method", "regularization"}, 2, "training needs data"},
        Case{{"--threshold", "0.5", "--method", "regularization"}, 2, "until a share is not needed"},
        Case{{"--granularity", "2:4", "--sparsity", "0.5", "--method", "regularization"},
             4,
             "2:4 by regularization are not supported yet"},
        Case{{"--granularity", "2:4", "--method", "dropout"}, 4, "2:4 by dropout are not supported yet"},
        Case{{"--sparsity", "0.5", "--method", "influence"}, 2, "influence is of residual blocks, elements are none"},
        Case{{"--sparsity", "0.5", "--method", "dropout", "--allocation", "sensitivity"}, 4, "fix: global or uniform"},
        Case{{"--sparsity", "0.5", "--recover", "bn"}, 2, "bn needs data"},
        Case{{"--sparsity", "0.5", "--granularity", "channel", "--recover", "bn"}, 2, "bn needs data"},
        Case{{"--sparsity", "0.5", "--method", "apoz"}, 2, "apoz is of channels, elements are none"},
        Case{{"--sparsity", "0.5", "--method", "apoz", "--granularity", "channel"}, 2, "apoz needs data"},
        Case{{"--sparsity", "0.5", "--method", "bn-scale", "--granularity", "channel"}, 3, "no BatchNormalization"},
        Case{{"--sparsity", "0.5", "--method", "taylor"}, 2, "needs data with labels"},
        Case{{"--sparsity", "0.5", "--method", "fisher", "--data", files.data, "--granularity", "channel"},
             2,
             "needs data with labels"},
        Case{{"--sparsity", "0.5", "--method", "wanda"}, 2, "wanda needs data"}}) {
    const test::Outcome refused = files.prune(c.options);
    INFO(refused.err);
    CHECK(refused.status == c.status);
    CHECK(refused.err.find(c.said) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(files.out));
  }
}

TEST_CASE("prune makes layers smaller by channels, and explains each group") {
  const Files files;
  const test::Outcome done =
      files.prune({"--granularity", "channel", "--sparsity", "0.5", "--json", files.folder / "r.json", "--explain"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(done.out.find("group 1: 32 of 64 channels stay, made by first") != std::string::npos);
  CHECK(done.out.find("cut: V axis 1 of 64; W axis 0 of 64") != std::string::npos);
  CHECK(done.out.find("coupled by: Relu") != std::string::npos);
  CHECK(done.out.find("second: 32 channels stay: 'y' is an output of the model") != std::string::npos);
  const Model result = read_model(files.out);
  CHECK(result.graph->find("V")->constant->dims() == Dims{32, 32});
  CHECK(metadata(result, "mlopt.spec") == "magnitude:granularity=channel;sparsity=0.5");
  CHECK(files.prune({"--granularity", "element", "--flops", "50%"}).status == 2);
  CHECK(files.prune({"--granularity", "layer", "--sparsity", "0.5"}).status == 3);  // it has no blocks
  CHECK(files.prune({"--granularity", "channel", "--sparsity", "0.5", "--round", "many"}).status == 2);
}
