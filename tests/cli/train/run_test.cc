#include "cli/train/run.h"

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
