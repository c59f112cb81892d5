#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "core/base/file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/dropping_model.h"
#include "tests/support/op.h"
#include "tests/support/program.h"
#include "tests/support/train_setup.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("train teaches a model and reports each epoch") {
  const test::TrainSetup s;
  const std::string log = s.folder / "log.csv";
  const test::Outcome done = s.train({"--epochs", "30", "--batch-size", "16", "--lr", "0.05", "--metric", "top1",
                                      "--val", s.data, "--json", "-", "--log", log, "--reset-weights"});
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  const auto& epochs = report.find("epochs")->items();
  REQUIRE(epochs.size() == 30);
  CHECK(epochs.back().find("loss")->number() < 0.5 * epochs.front().find("loss")->number());
  CHECK(epochs.back().find("score")->number() > 0.9);
  CHECK(report.find("changes")->find("updates")->integer() == 180);
  std::ifstream lines(log);
  std::string line;
  int64_t count = 0;
  while (std::getline(lines, line)) ++count;
  CHECK(count == 181);
  CHECK(read_model(s.out).graph->nodes().size() == read_model(s.model).graph->nodes().size());
}

TEST_CASE("the same training gives the same model") {
  const test::TrainSetup s;
  const std::vector<std::string> options = {"--steps", "7", "--batch-size", "16", "--seed", "3"};
  REQUIRE(s.train(options).status == 0);
  const std::string first = read_file(s.out);
  REQUIRE(s.train(options).status == 0);
  CHECK(read_file(s.out) == first);
}

TEST_CASE("a model that takes so many samples at a time is trained in portions of them") {
  test::TrainSetup s;
  const auto weights = [&](const std::vector<std::string>& more) {
    std::vector<std::string> options = {"--steps", "4", "--batch-size", "32"};
    options.insert(options.end(), more.begin(), more.end());
    const test::Outcome done = s.train(options);
    INFO(done.err);
    REQUIRE(done.status == 0);
    return to_doubles(*read_model(s.out).graph->find("w")->constant);
  };
  const std::vector<double> portions = weights({"--accumulate", "4"});
  s.model = test::write_text_model(s.folder, "fixed.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    two_layers (float[8,4] x) => (float[8,3] y)
    <float[4,3] w = {1,-2,3,4,5,-6,7,8,9,-1,1,2}, float[3] b = {0.5, -1, 2}>
    { product = MatMul (x, w)  positive = Relu (product)  y = Add (positive, b) })");
  CHECK(weights({}) == portions);
  CHECK(s.train({"--batch-size", "12"}).err.find("of which a batch of 12 is no multiple") != std::string::npos);
}

TEST_CASE("training that makes no sense is refused") {
  struct Row {
    std::vector<std::string> options;
    int status;
    const char* says;
  };
  const Row rows[] = {
      {{"--batch-size", "97"}, 3, "96 samples are no batch of 97"},
      {{"--batch-size", "128", "--accumulate", "2", "--steps", "1"}, 3, "96 samples are no batch of 128"},
      {{"--batch-size", "16", "--accumulate", "3"}, 2, "a batch of 16 has no 3 equal portions"},
      {{"--epochs", "1", "--steps", "1"}, 2, "one of --epochs and --steps"},
      {{"--val", "random"}, 2, "--val needs what to score"},
      {{"--data", "random"}, 3, "the data have no labels"},
      {{"--resume"}, 2, "--resume needs the folder"},
      {{"--freeze", "*"}, 3, "nothing is left to train"},
      {{"--trainable", "nothing"}, 2, "no weight is called 'nothing'"},
      {{"--checkpoint-every", "2"}, 2, "--checkpoint-every needs a folder"},
      {{"--loss", "hinge"}, 2, "--loss"},
      {{"--lr", "-1"}, 2, "--lr"},
      {{"--loss-output", "z"}, 2, "the model has no output 'z'"},
      {{"--schedule", "plateau"}, 2, "plateau follows the score on validation data"},
      {{"--loss", "mse", "--label-smoothing", "0.1"}, 2, "the loss mse has no classes to smooth"},
      {{"--dropout", "1"}, 2, "'1' is neither model, off nor a share"},
      {{"--dropout", "0.5"}, 2, "the model has no Dropout"},
      {{"--augment", "mixup=0"}, 2, "'mixup=0' needs a number above 0"},
      {{"--augment", "flip", "--batch-size", "16"}, 3, "no float32 pictures"},
      {{"--loss", "bce", "--batch-size", "16"}, 3, "labels of shape 16"},
      {{"--lr", "1e38", "--optimizer", "sgd", "--batch-size", "16", "--epochs", "9"}, 3, "the loss is"},
      {{"--log", "/nowhere/log.csv"}, 3, "/nowhere/log.csv"},
  };
  for (const Row& row : rows) {
    const test::TrainSetup s;
    const test::Outcome done = s.train(row.options);
    INFO(row.says << "\n" << done.err << done.out);
    CHECK(done.status == row.status);
    CHECK(done.err.find(row.says) != std::string::npos);
    CHECK(!std::ifstream(s.out).good());
  }
  const test::TrainSetup wrong(5);
  const test::Outcome done = wrong.train({"--batch-size", "96"});
  CHECK(done.status == 3);
  CHECK(done.err.find("the label 5 is none of 3 classes") != std::string::npos);
  CHECK(done.err.find("17") != std::string::npos);
}

TEST_CASE("a training that goes on from a checkpoint ends as if it had never stopped") {
  test::TrainSetup whole, broken;
  for (test::TrainSetup* s : {&whole, &broken}) s->model = write_text_model(s->folder, "m.onnx", test::kDropping);
  const std::vector<std::string> options = {"--epochs", "4", "--batch-size", "16",       "--optimizer", "adamw",
                                            "--seed",   "2", "--augment",    "mixup=0.4"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), options.begin(), options.end());
    return more;
  };
  const std::string folder = broken.folder / "checkpoints";
  REQUIRE(whole.train(options).status == 0);
  REQUIRE(broken.train(with({"--checkpoint", folder, "--checkpoint-every", "5"})).status == 0);
  // As if it had been killed after update 20 of 24: the newer one is gone.
  std::filesystem::remove(folder + "/step-00000024.npz");
  REQUIRE(std::filesystem::exists(folder + "/step-00000020.npz"));
  const std::string log = broken.folder / "log.csv";
  const test::Outcome done = broken.train(with({"--checkpoint", folder, "--resume", "--log", log}));
  INFO(done.err << done.out);
  REQUIRE(done.status == 0);
  CHECK(done.out.find("resumed after update 20") != std::string::npos);
  const auto weights = [](const std::string& path) {
    std::string bytes;
    const Model model = read_model(path);
    for (const Value* v : model.graph->initializers())
      bytes.append(reinterpret_cast<const char*>(v->constant->raw()), v->constant->bytes());
    return bytes;
  };
  CHECK(weights(broken.out) == weights(whole.out));
  std::ifstream lines(log);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  CHECK(line.substr(0, 3) == "21,");
  const test::Outcome other = broken.train({"--epochs", "4", "--batch-size", "8", "--checkpoint", folder, "--resume"});
  CHECK(other.status == 3);
  CHECK(other.err.find("of another training") != std::string::npos);
  for (const std::vector<std::string>& more : {std::vector<std::string>{"--clip", "0.5"}, {"--loss-output", "y"}}) {
    std::vector<std::string> changed = with(more);
    changed.insert(changed.end(), {"--checkpoint", folder, "--resume"});
    CHECK(broken.train(changed).err.find("of another training") != std::string::npos);
  }
}

TEST_CASE("a training that goes on knows its best score, and logs no update twice") {
  const test::TrainSetup s;
  const std::string folder = s.folder / "checkpoints", log = s.folder / "log.csv";
  const auto run = [&](std::vector<std::string> options, const std::string& gone) {
    const auto once = [&](const std::vector<std::string>& more) {
      std::vector<std::string> all = {"--batch-size", "16",    "--lr", "1e-6",   "--metric", "top1",         "--val",
                                      s.data,         "--log", log,    "--json", "-",        "--checkpoint", folder};
      all.insert(all.end(), options.begin(), options.end());
      all.insert(all.end(), more.begin(), more.end());
      const test::Outcome done = s.train(all);
      INFO(done.err);
      REQUIRE(done.status == 0);
      const Model model = read_model(s.out);
      std::ifstream lines(log);
      std::string line, steps;
      while (std::getline(lines, line)) {
        size_t end = 0;  // of step, loss and rate: seconds differ
        for (int i = 0; i < 3; ++i) end = line.find(',', end + 1);
        steps += line.substr(0, end) + "\n";
      }
      return std::tuple{to_doubles(*model.graph->find("w")->constant), steps,
                        Json::parse(done.out).find("epochs")->items().size()};
    };
    std::filesystem::remove_all(folder);
    const auto whole = once({});
    std::filesystem::remove(folder + "/" + gone);
    const auto resumed = once({"--resume"});
    CHECK(std::get<0>(resumed) == std::get<0>(whole));
    CHECK(std::get<1>(resumed) == std::get<1>(whole));
    CHECK(std::get<2>(resumed) == 1);
  };
  // The score stays what it is after the first epoch.
  run({"--epochs", "7", "--schedule", "plateau"}, "step-00000042.npz");  // slower from epoch 7 on
  run({"--epochs", "50", "--patience", "3"}, "step-00000024.npz");
}

TEST_CASE("Dropouts drop in training unless they are not to, and stay in the model") {
  test::TrainSetup s;
  s.model = write_text_model(s.folder, "m.onnx", test::kDropping);
  const auto first_loss = [&](const char* dropout) {
    const std::string log = s.folder / "log.csv";
    const test::Outcome done =
        s.train({"--steps", "1", "--batch-size", "96", "--log", log, "--dropout", dropout, "--json", "-"});
    INFO(done.err << done.out);
    REQUIRE(done.status == 0);
    const bool none = std::string(dropout) == "off" || std::string(dropout) == "0";
    CHECK((Json::parse(done.out).find("dropouts") == nullptr) == none);
    CHECK(read_model(s.out).graph->nodes().size() == 4);
    std::ifstream lines(log);
    std::string line;
    std::getline(lines, line);
    std::getline(lines, line);
    return std::stod(line.substr(2));
  };
  const double off = first_loss("off"), model = first_loss("model");
  CHECK(model != off);
  CHECK(first_loss("0.25") == model);
  CHECK(first_loss("0") == off);
  CHECK(first_loss("0.5") != model);
  CHECK(s.train({"--steps", "1"}).out.find("dropout while training: 25 %, in 1 of the model's nodes") !=
        std::string::npos);
}

TEST_CASE("a training without progress ends early with its best weights") {
  const test::TrainSetup s;
  const test::Outcome done = s.train({"--epochs", "50", "--batch-size", "16", "--lr", "1e-9", "--metric", "top1",
                                      "--val", s.data, "--patience", "3", "--json", "-"});
  INFO(done.err);
  REQUIRE(done.status == 0);
  CHECK(Json::parse(done.out).find("epochs")->items().size() == 4);
  CHECK(s.train({"--patience", "3"}).status == 2);
}

TEST_CASE("an interrupted training leaves a checkpoint to go on from") {
  const test::TrainSetup s;
  const std::string folder = s.folder / "checkpoints";
  const std::vector<std::string> options = {"train",   s.model,        "-o",           s.out,        "--data",
                                            s.data,    "--no-bench",   "--batch-size", "16",         "--epochs",
                                            "1000000", "--checkpoint", folder,         "--schedule", "constant"};
  const test::Outcome stopped = test::interrupt_mlopt(options, 1);
  CHECK(stopped.status == 128 + SIGINT);
  CHECK(!std::ifstream(s.out).good());
  REQUIRE(!std::filesystem::is_empty(folder));
  std::vector<std::string> further = options;
  further.insert(further.end(), {"--resume"});
  CHECK(test::interrupt_mlopt(further, 1).status == 128 + SIGINT);
}

TEST_CASE("--average gives other weights than the last, which score as well") {
  const test::TrainSetup s;
  const std::vector<std::string> options = {"--epochs", "30",    "--batch-size",   "16",       "--lr",
                                            "0.05",     "--val", s.data,           "--metric", "top1",
                                            "--json",   "-",     "--reset-weights"};
  REQUIRE(s.train(options).status == 0);
  const std::string last = read_file(s.out);
  std::vector<std::string> averaged = options;
  averaged.insert(averaged.end(), {"--average", "0.9"});
  const test::Outcome done = s.train(averaged);
  REQUIRE(done.status == 0);
  CHECK(read_file(s.out) != last);
  CHECK(Json::parse(done.out).find("epochs")->items().back().find("score")->number() > 0.9);
  CHECK(s.train({"--average", "1"}).status == 2);
}

TEST_CASE("curves go to a page and to TensorBoard's files") {
  const test::TrainSetup s;
  const std::string page = s.folder / "r.html", events = s.folder / "events";
  REQUIRE(s.train({"--epochs", "3", "--batch-size", "16", "--val", s.data, "--metric", "top1", "--html", page,
                   "--tensorboard", events})
              .status == 0);
  CHECK(read_file(page).find("<canvas") != std::string::npos);
  int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(events)) {
    ++files;
    const std::string bytes = read_file(entry.path());
    CHECK(bytes.find("val/top1") != std::string::npos);
    CHECK(bytes.find("learning rate") != std::string::npos);
  }
  CHECK(files == 1);
}

TEST_CASE("a model with local functions is trained as if it had none") {
  test::TrainSetup s;
  const auto weights = [&] {
    const test::Outcome done = s.train({"--steps", "4", "--batch-size", "16"});
    INFO(done.err);
    REQUIRE(done.status == 0);
    return to_doubles(*read_model(s.out).graph->find("w")->constant);
  };
  const std::vector<double> plain = weights();
  s.model = test::write_text_model(s.folder, "f.onnx", R"(<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
    two_layers (float[N,4] x) => (float[N,3] y)
    <float[4,3] w = {1,-2,3,4,5,-6,7,8,9,-1,1,2}, float[3] b = {0.5, -1, 2}>
    { positive = local.layer (x, w)  y = Add (positive, b) }
    <domain: "local", opset_import: ["" : 21]>
    layer (a, m) => (c) { p = MatMul (a, m)  c = Relu (p) })");
  CHECK(weights() == plain);
  const test::Outcome done = run_mlopt({"distill", s.model, "--teacher", s.model, "-o", s.out, "--data", s.data,
                                        "--steps", "2", "--batch-size", "16", "--no-bench"});
  INFO(done.err);
  CHECK(done.status == 0);
}
