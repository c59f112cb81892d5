#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/dropping_model.h"
#include "tests/support/models.h"
#include "tests/support/mpirun.h"
#include "tests/support/op.h"
#include "tests/support/paths.h"

using namespace mlopt;

namespace {

/// A model of two layers, and 96 samples whose class is that of the largest of the first three numbers.
struct Setup {
  test::TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  std::string data = folder / "d.npz";

  Setup() {
    const Tensor x = test::uniform({96, 4}, -1, 1);
    std::vector<int64_t> labels;
    const auto v = x.span<float>();
    for (size_t i = 0; i < 96; ++i) labels.push_back(std::max_element(&v[4 * i], &v[4 * i] + 3) - &v[4 * i]);
    write_npz(data, {{"x", x}, {"label", Tensor::ints(labels)}});
  }

  std::vector<std::string> options(const std::string& name, std::vector<std::string> more) const {
    std::vector<std::string> all = {"train",
                                    model,
                                    "-o",
                                    folder / (name + ".onnx"),
                                    "--data",
                                    data,
                                    "--json",
                                    folder / (name + ".json"),
                                    "--batch-size",
                                    "24",
                                    "--no-bench",
                                    "--log",
                                    folder / (name + ".csv")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// Column `column` of the log.
  std::vector<double> logged(const std::string& name, int column) const {
    std::ifstream lines(folder / (name + ".csv"));
    std::vector<double> values;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      size_t begin = 0;
      for (int k = 0; k < column; ++k) begin = line.find(',', begin) + 1;
      values.push_back(std::stod(line.substr(begin)));
    }
    return values;
  }
  Json report(const std::string& name) const { return Json::parse(read_file(folder / (name + ".json"))); }
  std::vector<double> weights(const std::string& name) const {
    const Model trained = read_model(folder / (name + ".onnx"));
    std::vector<double> all;
    for (const Value* v : trained.graph->initializers())
      for (const double number : to_doubles(*v->constant)) all.push_back(number);
    return all;
  }
};

/// Of the ranks, which are mpirun's children.
int last_child(int mpirun) {
  std::ifstream children("/proc/" + std::to_string(mpirun) + "/task/" + std::to_string(mpirun) + "/children");
  int last = -1, child = 0;
  while (children >> child) last = child;
  REQUIRE(last > 0);
  return last;
}

void require_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  REQUIRE(!found.empty());
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-4));
}

}  // namespace

TEST_CASE("ranks started by mpirun train the model that one process trains") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  Setup s;
  s.model = test::write_text_model(s.folder, "m.onnx", test::kDropping);
  const std::vector<std::string> more = {"--steps",  "10",   "--val",     s.data,
                                         "--metric", "top1", "--augment", "mixup=0.4"};
  REQUIRE(test::run_mlopt(s.options("one", more)).status == 0);
  for (const int count : {2, 4}) {
    const std::string name = std::to_string(count);
    const test::Outcome done = test::run_ranks(count, "mlopt", s.options(name, more));
    INFO(done.out << done.err);
    REQUIRE(done.status == 0);
    require_close(s.logged(name, 1), s.logged("one", 1));
    require_close(s.weights(name), s.weights("one"));
    const Json report = s.report(name), one = s.report("one");
    CHECK(report.find("ranks")->integer() == count);
    CHECK(report.find("communication")->find("sent_bytes")->integer() > 0);
    CHECK(report.find("epochs")->items()[2].find("score")->number() ==
          one.find("epochs")->items()[2].find("score")->number());
    // Rank 0 alone reports.
    CHECK(done.out.find("before") == done.out.rfind("before"));
  }
}

TEST_CASE("compressed gradients, and ranks that train by themselves, teach too") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const std::vector<std::string> choices[] = {{"--bn", "sync"},
                                              {"--compress", "bf16"},
                                              {"--compress", "1bit"},
                                              {"--compress", "topk:10%"},
                                              {"--sync", "local:4", "--bucket", "0.001"}};
  for (const std::vector<std::string>& how : choices) {
    std::vector<std::string> more = {"--epochs", "20", "--lr", "0.1"};
    more.insert(more.end(), how.begin(), how.end());
    const test::Outcome done = test::run_ranks(2, "mlopt", s.options("x", more));
    INFO(how[1] << done.out << done.err);
    REQUIRE(done.status == 0);
    const Json report = s.report("x");
    const auto& epochs = report.find("epochs")->items();
    CHECK(epochs.back().find("loss")->number() < 0.7 * epochs.front().find("loss")->number());
    // Of 15 numbers and a loss, each of two ranks sends all: 4 bytes each, or 2 but for the first update and the loss.
    const int64_t sent = report.find("communication")->find("sent_bytes")->integer();
    if (how[1] == "sync") CHECK(sent > 80 * 64);
    if (how[1] == "bf16") CHECK(sent < 80 * 40);
  }
}

TEST_CASE("what compression left over outlives the end of a training") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const std::string folder = s.folder / "checkpoints";
  const std::vector<std::string> how = {"--steps", "20", "--lr", "0.05", "--compress", "topk:10%"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), how.begin(), how.end());
    return more;
  };
  REQUIRE(test::run_ranks(2, "mlopt", s.options("whole", how)).status == 0);
  REQUIRE(
      test::run_ranks(2, "mlopt", s.options("x", with({"--checkpoint", folder, "--checkpoint-every", "5"}))).status ==
      0);
  std::filesystem::remove(folder + "/step-00000020.npz");  // as if it had been killed before: update 16 ended an epoch
  const std::vector<std::string> resume = with({"--checkpoint", folder, "--resume"});
  const test::Outcome done = test::run_ranks(2, "mlopt", s.options("x", resume));
  INFO(done.out << done.err);
  REQUIRE(done.status == 0);
  CHECK(done.out.find("resumed after update 16") != std::string::npos);
  CHECK(done.out.find("begins anew") == std::string::npos);
  CHECK(s.weights("x") == s.weights("whole"));
  std::filesystem::remove(folder + "/step-00000020.npz");
  const test::Outcome others = test::run_ranks(3, "mlopt", s.options("x", resume));
  INFO(others.out << others.err);
  REQUIRE(others.status == 0);
  CHECK(others.out.find("what --compress had left over is not there for these ranks") != std::string::npos);
}

TEST_CASE("ranks follow a teacher whose outputs are kept on disk as one that is run") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const std::string cache = s.folder / "cache";
  const auto options = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> all = s.options(name, {"--steps", "6", "--reset-weights", "--teacher", s.model});
    all[0] = "distill";
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  REQUIRE(test::run_mlopt(options("run", {})).status == 0);
  for (int time = 0; time < 2; ++time) {
    const test::Outcome done = test::run_ranks(2, "mlopt", options("kept", {"--cache-teacher", cache}));
    INFO(done.out << done.err);
    REQUIRE(done.status == 0);
    require_close(s.logged("kept", 1), s.logged("run", 1));
    const auto files = std::filesystem::directory_iterator(cache);
    CHECK(std::distance(begin(files), end(files)) == 1);
  }
}

TEST_CASE("ranks share the samples of an evaluation") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const std::vector<std::string> args = {"eval", s.model, "--data", s.data, "--metric", "f1", "--json", "-"};
  const test::Outcome one = test::run_mlopt(args), many = test::run_ranks(3, "mlopt", args);
  INFO(many.out << many.err);
  REQUIRE(many.status == 0);
  const Json expected = Json::parse(one.out), found = Json::parse(many.out);
  CHECK(found.find("score")->find("value")->number() == expected.find("score")->find("value")->number());
  CHECK(found.find("score")->find("samples")->integer() == 96);
}

TEST_CASE("devices measures how fast ranks add up numbers") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const test::Outcome done = test::run_ranks(2, "mlopt", {"devices", "--measure", "--json", "-"});
  INFO(done.out << done.err);
  REQUIRE(done.status == 0);
  const Json report = Json::parse(done.out);
  CHECK(report.find("ranks")->integer() == 2);
  CHECK(report.find("all_reduce")->items().size() >= 3);
  for (const Json& speed : report.find("all_reduce")->items()) CHECK(speed.find("sent_bytes_per_s")->number() > 0);
}

TEST_CASE("runs whose ranks do not fit together are refused") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const auto refused = [&](int count, const std::vector<std::string>& args, int status, const std::string& says) {
    const test::Outcome done = test::run_ranks(count, "mlopt", args);
    INFO(done.out << done.err);
    CHECK(done.status == status);
    CHECK(done.err.find(says) != std::string::npos);
    CHECK(done.err.find(says) == done.err.rfind(says));  // once, not by each rank
  };
  refused(5, s.options("x", {}), 2, "24 samples have no equal parts for 5 ranks");
  refused(2, s.options("x", {"--optimizer", "nothing"}), 2, "--optimizer");
  refused(2, s.options("x", {"--compress", "topk:0"}), 2, "--compress");
  refused(2, s.options("x", {"--sync", "local"}), 2, "--sync");
  refused(2, {"info", s.model}, 2, "info is the work of one process");
  refused(2, {"info", s.model}, 2, "eval, devices --measure and");
  refused(2, {"train", "nowhere.onnx", "-o", s.folder / "x.onnx", "--data", s.data}, 3, "nowhere.onnx");
  // Each rank reads another model.
  test::write_text_model(s.folder, "r0.onnx", test::kTwoLayers);
  std::string other = test::kTwoLayers;
  other.replace(other.find("0.5"), 3, "0.7");
  test::write_text_model(s.folder, "r1.onnx", other);
  std::vector<std::string> args = {
      "-c", "exec \"$0\" train \"$1/r$OMPI_COMM_WORLD_RANK.onnx\" -o \"$1/x.onnx\" --data \"$2\" --batch-size 24",
      test::program().string(), s.folder.path().string(), s.data};
  const test::Outcome done = test::run_ranks(2, "/bin/sh", args);
  INFO(done.out << done.err);
  CHECK(done.status == 3);
  CHECK(done.err.find("rank 1 against rank 0") != std::string::npos);
  CHECK(!std::filesystem::exists(s.folder / "x.onnx"));
}

TEST_CASE("processes of one run that cannot talk to each other are refused") {
  const Setup s;
  // As in a build without the plugin, or on a machine without the library.
  std::filesystem::copy_file(test::program(), s.folder / "mlopt");
  std::vector<std::string> command = {"env", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2",
                                      "LD_LIBRARY_PATH=" + test::binary_dir().string(), s.folder / "mlopt"};
  for (const std::string& arg : s.options("x", {})) command.push_back(arg);
  const test::Outcome done = test::run_command(command, 60);
  INFO(done.err);
  CHECK(done.status == 4);
  CHECK(done.err.find("2 processes were started as one run, but they cannot talk to each other") != std::string::npos);
  CHECK(!std::filesystem::exists(s.folder / "x.onnx"));
}

TEST_CASE("a rank that is killed ends the others, and the training goes on with another number of ranks") {
  if (const std::string reason = test::no_mpirun(); !reason.empty()) return test::skip(reason);
  const Setup s;
  const std::string folder = s.folder / "checkpoints";
  std::vector<std::string> more = {"--steps", "10000", "--checkpoint", folder, "--checkpoint-every", "50"};
  const auto begun = std::chrono::steady_clock::now();
  ::setenv("OMPI_MCA_odls_base_sigkill_timeout", "10", 1);  // on a busy machine a checkpoint may take over its second
  const test::Outcome done = test::run_ranks(3, "mlopt", s.options("x", more), [&](int mpirun) {
    // Once updates are logged, some rank but the first is killed.
    for (int i = 0; i < 6000 && s.logged("x", 0).size() < 100; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ::kill(last_child(mpirun), SIGKILL);
  });
  ::unsetenv("OMPI_MCA_odls_base_sigkill_timeout");
  INFO(done.out << done.err);
  CHECK(done.status != 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(60));
  CHECK(done.err.find("go on with --resume") != std::string::npos);
  CHECK(!std::filesystem::exists(s.folder / "x.onnx"));
  REQUIRE(!std::filesystem::is_empty(folder));
  more.emplace_back("--resume");
  const test::Outcome resumed = test::run_ranks(2, "mlopt", s.options("x", more));
  INFO(resumed.out << resumed.err);
  REQUIRE(resumed.status == 0);
  CHECK(resumed.out.find("resumed after update ") != std::string::npos);
  const std::vector<double> steps = s.logged("x", 0);
  CHECK(steps.back() == 10000);
}
