#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

struct Bench {
  test::TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);

  /// `mlopt bench` on the model, quick, on the reference backend.
  test::Outcome run(std::vector<std::string> args) const {
    args.insert(args.begin(), {"bench", model, "--device", "reference", "--warmup", "0"});
    return run_mlopt(args);
  }
  /// The report of a run that must succeed.
  Json report(std::vector<std::string> args) const {
    args.insert(args.end(), {"--json", "-"});
    const test::Outcome outcome = run(args);
    INFO(outcome.err);
    REQUIRE(outcome.status == 0);
    return Json::parse(outcome.out);
  }
};

const Json& at(const Json& json, const std::string& key) {
  const Json* member = json.find(key);
  INFO(key);
  REQUIRE(member);
  return *member;
}

}  // namespace

TEST_CASE("bench reports what its contract names") {
  const Bench bench;
  const Json report = bench.report({"--runs", "7"});
  const Json& model = at(report, "models").items().at(0);
  CHECK(at(model, "path").string() == bench.model);
  CHECK(at(model, "device").string() == "reference");
  CHECK(at(model, "runs").integer() == 7);
  CHECK(at(model, "nodes").integer() == 3);
  CHECK(at(model, "size_bytes").integer() == static_cast<int64_t>(std::filesystem::file_size(bench.model)));
  CHECK(at(model, "peak_memory_bytes").integer() > 1 << 20);
  CHECK(at(model, "load_ms").number() > 0);
  CHECK(at(model, "compile_ms").number() >= 0);
  CHECK(at(model, "throughput_per_s").number() > 0);
  CHECK(at(model, "fallback_nodes").is_array());
  const Json& latency = at(model, "latency_ms");
  const double least = at(latency, "min").number();
  CHECK(least > 0);
  CHECK(at(latency, "p50").number() >= least);
  CHECK(at(latency, "p90").number() >= at(latency, "p50").number());
  CHECK(at(latency, "p99").number() >= at(latency, "p90").number());
  CHECK(at(latency, "mean").number() >= least);
  CHECK(at(report, "ratios").items().empty());
  const Json& environment = at(report, "environment");
  for (const char* key : {"cpu", "features", "threads", "governor", "turbo", "libraries", "noise"})
    at(environment, key);
  CHECK(at(report, "spec").string().find("runs=7") != std::string::npos);
}

TEST_CASE("models are compared with the first one") {
  const Bench bench;
  const Json report = bench.report({bench.model, "--duration", "0.1", "--batch", "1,3", "--profile"});
  REQUIRE(at(report, "models").items().size() == 4);
  CHECK(at(at(report, "models").items()[2], "batch").integer() == 3);
  const auto& nodes = at(at(at(report, "models").items()[0], "profile"), "nodes").items();
  REQUIRE(nodes.size() == 3);
  CHECK(at(nodes[0], "op").string() == "MatMul");
  const auto& ratios = at(report, "ratios").items();
  REQUIRE(ratios.size() == 2);
  CHECK(at(ratios[0], "model").string() == bench.model);
  CHECK(at(ratios[0], "to").string() == bench.model);
  CHECK(at(ratios[0], "low").number() <= at(ratios[0], "median").number());
  CHECK(at(ratios[0], "median").number() <= at(ratios[0], "high").number());
  CHECK(at(ratios[0], "median").number() > 0.2);
  CHECK(at(ratios[0], "median").number() < 5);
}

TEST_CASE("whole arrays are the input; streams share the threads; tables go to files") {
  const Bench bench;
  const std::string data = bench.folder / "d.npz", csv = bench.folder / "t.csv", html = bench.folder / "t.html";
  write_npz(data, {{"x", Tensor::zeros(DType::kF32, {5, 4})}});
  const Json report =
      bench.report({"--data", data, "--runs", "20", "--streams", "2", "--threads", "2", "--csv", csv, "--html", html});
  CHECK(at(at(report, "models").items()[0], "runs").integer() == 20);
  CHECK(read_file(csv).find("p50") != std::string::npos);
  CHECK(read_file(html).find("<table") != std::string::npos);
  CHECK(at(bench.report({"--sweep-threads", "--threads", "3", "--runs", "2"}), "models").items().size() == 3);
}

TEST_CASE("gates decide the status") {
  const Bench bench;
  CHECK(bench.run({"--runs", "3", "--max-latency", "1000", "--max-size", "1M", "--max-memory", "4G"}).status == 0);
  const test::Outcome slow = bench.run({"--runs", "3", "--max-latency", "1e-9"});
  CHECK(slow.status == 1);
  CHECK(slow.out.find("max-latency") != std::string::npos);
  CHECK(bench.run({"--runs", "3", "--max-size", "10"}).status == 1);
  CHECK(bench.run({bench.model, "--runs", "9", "--max-size", "100%"}).status == 0);
  CHECK(bench.run({bench.model, "--runs", "9", "--max-size", "99%"}).status == 1);
  CHECK(bench.run({bench.model, "--runs", "9", "--min-speedup", "50"}).status == 1);
  CHECK(bench.run({bench.model, "--duration", "0.1", "--min-speedup", "0.02"}).status == 0);
  const std::string baseline = bench.folder / "base.json";
  REQUIRE(bench.run({"--runs", "9", "--json", baseline}).status == 0);
  CHECK(bench.run({"--runs", "9", "--baseline", baseline, "--max-regress", "100000%"}).status == 0);
  const test::Outcome other = bench.run({"--runs", "9", "--threads", "7", "--baseline", baseline});
  CHECK(other.status == 0);
  CHECK(other.out.find("not comparable") != std::string::npos);
  CHECK(bench.run({"--runs", "9", "--threads", "7", "--baseline", baseline, "--strict"}).status == 1);
  for (const std::vector<std::string>& setting :
       {std::vector<std::string>{"--no-prepare"}, {"--shape", "N=3"}, {"--range", "x=0:1"}}) {
    std::vector<std::string> args = {"--runs", "9", "--baseline", baseline};
    args.insert(args.end(), setting.begin(), setting.end());
    CHECK(bench.run(args).out.find("p50: not comparable") != std::string::npos);
  }
}

TEST_CASE("bench refuses what it cannot measure") {
  const Bench bench;
  const auto status = [&](const std::vector<std::string>& args, const std::string& words) {
    const test::Outcome outcome = bench.run(args);
    INFO(outcome.err);
    CHECK(outcome.err.find(words) != std::string::npos);
    return outcome.status;
  };
  CHECK(status({"--precision", "bf16"}, "--precision") == 4);
  CHECK(status({"--precision", "fp7"}, "--precision") == 2);
  CHECK(status({"--show-plan", "--profile"}, "--show-plan") == 2);
  CHECK(status({"--show-plan", "--max-size", "1M"}, "--show-plan") == 2);
  for (const char* file : {"--csv", "--html"}) CHECK(status({"--show-plan", file, "-"}, "--show-plan") == 2);
  for (const char* limit : {"--max-size", "--max-memory"}) CHECK(status({limit, "50%"}, "second model") == 2);
  CHECK(status({"--batch", "0"}, "no batch size") == 2);
  CHECK(status({"--min-speedup", "2"}, "second model") == 2);
  CHECK(status({"--max-size", "40X"}, "no size") == 2);
  CHECK(status({"--baseline", bench.folder.write("bad.json", "{")}, "not valid JSON") == 3);
  CHECK(status({"--duration", "-1"}, "--duration") == 2);
  CHECK(status({"--max-regress", "5%"}, "needs --baseline") == 2);
  CHECK(status({"--data", "images:" + bench.folder.path().string()}, "no JPEG or PNG") == 3);
  CHECK(status({bench.folder / "none.onnx"}, "none.onnx") == 3);
  const std::string fixed = write_text_model(
      bench.folder, "fixed.onnx",
      "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2,2] x) => (float[2,2] y) { y = Relu(x) }");
  const test::Outcome batch = run_mlopt({"bench", fixed, "--batch", "3"});
  CHECK(batch.status == 3);
  CHECK(batch.err.find("batch of 3") != std::string::npos);
}

TEST_CASE("the peak memory is that of a process that runs the model, its libraries included") {
  const Bench bench;
  const auto alone = [&](const std::string& batch) {
    const test::Outcome run =
        run_mlopt({"run", bench.model, "--device", "reference", "--no-check", "--batch", batch, "--json", "-"});
    REQUIRE(run.status == 0);
    return at(Json::parse(run.out), "peak_memory_bytes").number();
  };
  // How much of the libraries is resident differs by megabytes from run to run; a million rows take 28 MB and more.
  const double noise = 10e6, large = alone("1000000"), small = alone("1");
  REQUIRE(large > small + 2 * noise);
  // The larger comes first: what the process that measures has used itself must not count.
  const Json report = bench.report({"--runs", "1", "--batch", "1000000,1"});
  const auto peak = [&](size_t index) { return at(at(report, "models").items()[index], "peak_memory_bytes").number(); };
  CHECK(peak(0) == Approx(large).margin(noise));
  CHECK(peak(1) == Approx(small).margin(noise));
}

TEST_CASE("bench in bfloat16 says how far that is from float32, or that the processor lacks it") {
  const Bench bench;
  const std::string file = bench.folder / "report.json";
  const auto run = [&](const std::string& precision) {
    return run_mlopt(
        {"bench", bench.model, "--device", "cpu", "--runs", "3", "--precision", precision, "--json", file});
  };
  CHECK(run("fp16").status == 4);
  const test::Outcome outcome = run("bf16");
  if (outcome.status == 4) {
    CHECK(outcome.err.find("this processor has no arithmetic on bf16") != std::string::npos);
    return;
  }
  REQUIRE(outcome.status == 0);
  const Json report = Json::parse(read_file(file));
  const Json& model = report.find("models")->items()[0];
  CHECK(model.find("precision")->string() == "bf16");
  CHECK(model.find("from_fp32")->items()[0].find("sqnr_db")->number() > 20);
}
