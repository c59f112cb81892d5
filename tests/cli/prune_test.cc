#include <filesystem>

#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"
#include "tests/support/program.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

struct Files {
  test::TempDir folder;
  std::string model = folder / "m.onnx", data = folder / "d.npz", out = folder / "p.onnx";

  Files() {
    write_model(test::fixture(R"(g (float[N,32] x, float[32,64] V, float[64,32] W) => (float[N,32] y) {
      [first] a = MatMul (x, V)
      r = Relu (a)
      [second] y = MatMul (r, W)
    })"),
                model);
    write_npz(data, {{"x", test::uniform({40, 32}, -1, 1)}});
  }

  test::Outcome prune(std::vector<std::string> options) const {
    options.insert(options.begin(), {"prune", model, "-o", out, "--no-bench"});
    return run_mlopt(options);
  }
};

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

TEST_CASE("what is wrong is said before anything is written") {
  const Files files;
  struct Case {
    std::vector<std::string> options;
    int status;
    const char* said;
  };
  for (const Case& c : {Case{{"--sparsity", "1.5"}, 2, "from 0 to 1"}, Case{{}, 2, "how much to remove is not said"},
                        Case{{"--sparsity", "0.5", "--method", "magnitud"}, 2, "did you mean 'magnitude'"},
                        Case{{"--sparsity", "0.5", "--only", "frist"}, 2, "did you mean 'first'"},
                        Case{{"--sparsity", "0.5", "--granularity", "embedding"}, 4, "is not supported yet"},
                        Case{{"--sparsity", "0.5", "--calibration-samples", "0"}, 2, "at least one sample"}}) {
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
  CHECK(files.prune({"--granularity", "layer", "--sparsity", "0.5"}).status == 4);
  CHECK(files.prune({"--granularity", "channel", "--sparsity", "0.5", "--round", "many"}).status == 2);
}
