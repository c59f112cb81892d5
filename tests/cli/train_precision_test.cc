#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/train/precision.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/train_setup.h"

using namespace mlopt;

namespace {

/// Bytes of all weights of a model.
std::string weights_of(const std::string& path) {
  std::string bytes;
  const Model model = read_model(path);
  for (const Value* v : model.graph->initializers())
    bytes.append(reinterpret_cast<const char*>(v->constant->raw()), v->constant->bytes());
  return bytes;
}

std::vector<std::string> with(std::vector<std::string> options, const std::vector<std::string>& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

}  // namespace

TEST_CASE("a training in half precision reaches the score of float32 and writes float32") {
  const std::vector<std::string> options = {"--epochs", "30",   "--batch-size",    "16",     "--lr", "0.05",
                                            "--metric", "top1", "--reset-weights", "--json", "-"};
  std::vector<std::string> weights;
  for (const std::string precision : {"fp32", "bf16", "fp16"}) {
    const test::TrainSetup s;
    const test::Outcome done = s.train(with(options, {"--val", s.data, "--precision", precision}));
    INFO(precision << done.err << done.out);
    REQUIRE(done.status == 0);
    const Json report = Json::parse(done.out);
    CHECK(report.find("epochs")->items().back().find("score")->number() > 0.9);
    CHECK((report.find("precision") != nullptr) == (precision != "fp32"));
    if (precision != "fp32") {
      CHECK(report.find("precision")->string() == precision);
      CHECK(report.find("products")->find("half")->integer() == 1);
    }
    CHECK((report.find("loss_scale") != nullptr) == (precision == "fp16"));
    const Model written = read_model(s.out);
    CHECK(written.graph->find("w")->constant->dtype() == DType::kF32);
    CHECK(written.graph->nodes().size() == 3);
    CHECK(std::count(weights.begin(), weights.end(), weights_of(s.out)) == 0);
    weights.push_back(weights_of(s.out));
  }
}

TEST_CASE("the log has the scale of the loss, and the report what it came to") {
  const test::TrainSetup s;
  const std::string log = s.folder / "log.csv";
  const test::Outcome done = s.train(
      {"--steps", "3", "--batch-size", "16", "--precision", "fp16", "--log", log, "--json", s.folder / "r.json"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(done.out.find("1 matrix products and convolutions in fp16, forward and backward") != std::string::npos);
  CHECK(done.out.find("the rounding is real, the time is not less") != std::string::npos);
  CHECK(done.out.find("loss scale 65536 at the end, 0 updates skipped") != std::string::npos);
  std::ifstream lines(log);
  std::string line;
  std::getline(lines, line);
  CHECK(line.ends_with(",reduce_s,loss_scale,skipped"));
  std::getline(lines, line);
  CHECK(line.ends_with(",65536,0"));
}

TEST_CASE("a GPU computes in half precision, others widen it") {
  for (const std::string device : {"gpu", "cpu"}) {
    cli::TrainOptions options;
    options.precision = "bf16";
    Report report;
    cli::report_products(options, {}, device, report);
    CHECK(report.blocks.size() == (device == "gpu" ? 1 : 2));
  }
}

TEST_CASE("what stays float32 is the user's choice") {
  const test::TrainSetup s;
  const test::Outcome kept = s.train({"--steps", "1", "--precision", "bf16", "--keep-fp32", "w", "--json", "-"});
  INFO(kept.err);
  REQUIRE(kept.status == 0);
  const Json products = *Json::parse(kept.out).find("products");
  CHECK(products.find("half")->integer() == 0);
  CHECK(products.find("float32")->find("named by --keep-fp32")->integer() == 1);
  struct Row {
    std::vector<std::string> options;
    int status;
    const char* says;
  };
  for (const Row& row : std::initializer_list<Row>{
           {{"--precision", "bf16", "--keep-fp32", "nothing"}, 3, "no node and no weight is called 'nothing'"},
           {{"--keep-fp32", "w"}, 2, "all is float32 anyway"},
           {{"--precision", "fp16", "--qat", "w8a8"}, 2, "half precision would round once more"},
           {{"--precision", "tf32"}, 2, "--precision"}}) {
    const test::Outcome done = s.train(row.options);
    INFO(done.err);
    CHECK(done.status == row.status);
    CHECK(done.err.find(row.says) != std::string::npos);
  }
}

TEST_CASE("a training in fp16 that goes on from a checkpoint ends as if it had never stopped") {
  const std::vector<std::string> options = {"--epochs",     "4", "--batch-size", "16", "--precision", "fp16",
                                            "--accumulate", "2", "--average",    "0.9"};
  const test::TrainSetup whole, broken;
  const std::string folder = broken.folder / "checkpoints";
  REQUIRE(whole.train(options).status == 0);
  REQUIRE(broken.train(with(options, {"--checkpoint", folder, "--checkpoint-every", "5"})).status == 0);
  std::filesystem::remove(folder + "/step-00000024.npz");
  const test::Outcome done = broken.train(with(options, {"--checkpoint", folder, "--resume"}));
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(weights_of(broken.out) == weights_of(whole.out));
  const test::Outcome other = broken.train({"--epochs", "4", "--batch-size", "16", "--checkpoint", folder, "--resume"});
  CHECK(other.status == 3);
  CHECK(other.err.find("of another training") != std::string::npos);
}

TEST_CASE("teachers compute in the precision of the student, and what they gave is kept apart") {
  const test::TrainSetup s;
  const auto distill = [&](std::vector<std::string> more) {
    return test::run_mlopt(with({"distill", s.model, "--teacher", s.model, "-o", s.out, "--data", s.data, "--no-bench",
                                 "--steps", "2", "--cache-teacher", s.folder / "cache", "--json", "-"},
                                more));
  };
  const auto files = [&] {
    const std::filesystem::directory_iterator all(s.folder / "cache");
    return std::distance(begin(all), end(all));
  };
  REQUIRE(distill({}).status == 0);
  const auto before = files();
  const test::Outcome done = distill({"--precision", "fp16"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(Json::parse(done.out).find("teacher_half_products")->integer() == 1);
  CHECK(files() == 2 * before);
}
