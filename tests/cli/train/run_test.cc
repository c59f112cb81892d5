#include "cli/train/run.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/train_setup.h"

using namespace mlopt;

TEST_CASE("a training that patience ended goes on with more of it") {
  const test::TrainSetup s;
  const std::string folder = s.folder / "checkpoints";
  const auto epochs = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--epochs", "50", "--batch-size", "16", "--lr", "1e-9", "--metric", "top1", "--val",
                             s.data, "--checkpoint", folder, "--json", "-"});
    const test::Outcome done = s.train(more);
    INFO(done.err);
    REQUIRE(done.status == 0);
    return Json::parse(done.out).find("epochs")->items().size();
  };
  CHECK(epochs({"--patience", "1"}) == 2);
  CHECK(epochs({"--patience", "1", "--resume"}) == 0);
  CHECK(epochs({"--patience", "4", "--resume"}) == 3);
}

TEST_CASE("--freeze and --trainable mean all layers that share a vector") {
  test::TrainSetup s;
  s.model = write_text_model(s.folder, "shared.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    shared (float[N,4] x) => (float[N,3] y)
    <float[4,3] v = {1,-2,3,4,5,-6,7,8,9,-1,1,2}, float[3,3] w = {1,-2,3,4,5,-6,7,8,9}, float[3] b = {0.5, -1, 2}>
    { a = Gemm (x, v, b)  r = Relu (a)  y = Gemm (r, w, b) })");
  /// Of the biases of both layers: which are no longer what they were?
  const auto changed = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--steps", "3", "--batch-size", "16", "--lr", "0.1"});
    const test::Outcome done = s.train(more);
    INFO(done.err);
    REQUIRE(done.status == 0);
    const Model made = read_model(s.out);
    std::vector<bool> all;
    for (const Node* node : made.graph->nodes())
      if (node->is("Gemm")) all.push_back(to_doubles(*node->input(2)->constant) != std::vector<double>{0.5, -1, 2});
    return all;
  };
  CHECK(changed({}) == std::vector<bool>{true, true});
  CHECK(changed({"--freeze", "b"}) == std::vector<bool>{false, false});
  CHECK(changed({"--trainable", "b"}) == std::vector<bool>{true, true});
}

TEST_CASE("the log has the norm of the gradients where it is computed") {
  const test::TrainSetup s;
  const std::string log = s.folder / "log.csv";
  const auto norm = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--steps", "1", "--log", log});
    const test::Outcome done = s.train(more);
    INFO(done.err);
    REQUIRE(done.status == 0);
    const std::vector<std::string> lines = split(read_file(log), '\n');
    return split(lines.at(1), ',').at(3);
  };
  CHECK(norm({}).empty());
  CHECK(std::stod(norm({"--clip", "0.1"})) > 0.1);
}

TEST_CASE("data of fewer samples than a usual batch are one") {
  test::TrainSetup s;
  s.data += ",limit=10";
  const test::Outcome done = s.train({"--json", "-"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(Json::parse(done.out).find("changes")->find("updates")->integer() == 1);
  CHECK(s.train({"--batch-size", "64"}).err.find("10 samples are no batch of 64") != std::string::npos);
}
