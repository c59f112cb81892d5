#include "core/onnx/io.h"
#include "core/report/json.h"
#include "core/tensor/compare.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

namespace {

const Type kFloat = Type::tensor(DType::kF32);

/// A folder with the model m.onnx and stored data that are right for it, or whose output is `off` by so much.
struct Stored {
  test::TempDir folder;
  std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  std::string data = (folder.path() / "data").string();

  explicit Stored(float off = 0) {
    std::filesystem::create_directory(data);
    const Tensor x = Tensor::of<float>({1, 4}, {1, 2, -1, 0.5});
    // x w = {1+8-7-0.5, -2+10-8+0.5, 3-12-9+1}
    const Tensor y = Tensor::of<float>({1, 3}, {1.5f + 0.5f, 0.5f - 1, 0 + 2 + off});
    write_datum(x, kFloat, "x", data + "/input_0.pb");
    write_datum(y, kFloat, "y", data + "/output_0.pb");
  }
};

}  // namespace

TEST_CASE("outputs are compared with the stored ones") {
  for (const char* device : {"reference", "cpu"}) {
    const Stored right, wrong(0.25);
    const test::Outcome same = run_mlopt({"run", right.model, "--data", right.data, "--device", device});
    if (same.status == 4) continue;  // a build without this backend
    INFO(same.err);
    CHECK(same.status == 0);
    const test::Outcome different = run_mlopt({"run", wrong.model, "--data", wrong.data, "--device", device});
    CHECK(different.status == 1);
    CHECK(different.out.find("element 2: 2 where 2.25 is expected") != std::string::npos);
    CHECK(run_mlopt({"run", wrong.model, "--data", wrong.data, "--no-check"}).status == 0);
    CHECK(run_mlopt({"run", wrong.model, "--data", wrong.data, "--atol", "0.3"}).status == 0);
  }
}

TEST_CASE("a tolerance below zero is refused") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  for (const char* name : {"--rtol", "--atol"}) CHECK(run_mlopt({"run", model, name, "-1"}).status == 2);
}

TEST_CASE("an option that would mean nothing is refused") {
  const Stored stored;
  const auto refused = [&](std::vector<std::string> options, const std::string& words) {
    options.insert(options.begin(), {"run", stored.model});
    const test::Outcome outcome = run_mlopt(options);
    INFO(outcome.err);
    return outcome.status == 2 && outcome.err.find(words) != std::string::npos;
  };
  CHECK(refused({"--rtol", "0.1"}, "only stored outputs are compared: --rtol"));
  CHECK(refused({"--data", stored.data, "--no-check", "--atol", "0.1"}, "compares nothing: --atol"));
  CHECK(refused({"--data", stored.data, "--shape", "x=3x4"}, "--shape"));
  CHECK(refused({"--batch", "0"}, "--batch"));
  CHECK(refused({"--npz", "-"}, "cannot go to standard output: --npz"));
  CHECK(refused({"--threads", "0"}, "--threads"));
}

TEST_CASE("outputs are written as they are read") {
  const Stored stored;
  const std::string out = stored.folder / "out/deep";
  REQUIRE(run_mlopt({"run", stored.model, "--data", stored.data, "--output-dir", out, "--quiet"}).status == 0);
  const Tensor y = read_datum(out + "/output_0.pb", kFloat).tensor();
  CHECK_FALSE(mismatch(y, Tensor::of<float>({1, 3}, {2, -0.5, 2}), 0, 1e-6));
}

TEST_CASE("outputs go to a folder only, and the error is about that") {
  const Stored stored;
  const auto outcome = [&](const std::string& out) {
    return run_mlopt({"run", stored.model, "--data", stored.data, "--output-dir", out});
  };
  const test::Outcome file = outcome(stored.model), below = outcome(stored.model + "/out");
  CHECK(file.status == 2);
  CHECK(file.err.find("is not a folder: --output-dir") != std::string::npos);
  CHECK(below.status == 3);
  CHECK(below.err.find("folder above it") != std::string::npos);
}

TEST_CASE("data under a name that no file can have are missing") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  for (const char* command : {"run", "bench"}) {
    const test::Outcome outcome = run_mlopt({command, model, "--data", std::string(300, 'a')});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("no such file") != std::string::npos);
  }
}

TEST_CASE("stored data that do not fit the model are refused, listing what it wants") {
  const Stored stored;
  const test::Outcome none = run_mlopt({"run", stored.model, "--data", stored.folder.path().string()});
  CHECK(none.status == 3);
  write_datum(Tensor::of<float>({1}, {0}), kFloat, "z", stored.data + "/input_1.pb");
  const test::Outcome more = run_mlopt({"run", stored.model, "--data", stored.data});
  CHECK(more.status == 3);
  CHECK(more.err.find("x float32[N,4]") != std::string::npos);
  write_datum(Tensor::of<float>({1, 5}, {0, 0, 0, 0, 0}), kFloat, "x", stored.data + "/input_0.pb");
  std::filesystem::remove(stored.data + "/input_1.pb");
  CHECK(run_mlopt({"run", stored.model, "--data", stored.data}).status == 3);
}

TEST_CASE("stored tensors are for the inputs and outputs that they are named after") {
  const test::TempDir folder;
  const std::string model =
      write_text_model(folder, "m.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] a, float[2] b) => "
                       "(float[2] d, float[2] s) { d = Sub (a, b) s = Add (a, b) }");
  const std::string data = folder / "data";
  std::filesystem::create_directory(data);
  const auto store = [&](const char* file, const char* name, float first, float second) {
    write_datum(Tensor::of<float>({2}, {first, second}), kFloat, name, data + "/" + file);
  };
  const auto run = [&] { return run_mlopt({"run", model, "--data", data}); };
  store("input_0.pb", "b", 1, 2);
  store("input_1.pb", "a", 5, 7);
  store("output_0.pb", "s", 6, 9);
  CHECK(run().status == 0);
  store("output_1.pb", "d", 4, 5);
  CHECK(run().status == 0);
  store("output_1.pb", "d", -4, -5);
  CHECK(run().status == 1);
  store("input_0.pb", "", 5, 7);
  CHECK(run().err.find("two files are for the input 'a'") != std::string::npos);
  store("input_1.pb", "", 1, 2);
  store("output_0.pb", "other", 4, 5);
  store("output_1.pb", "", 6, 9);
  CHECK(run().status == 0);
  store("input_0.pb", "c", 5, 7);
  const test::Outcome unknown = run();
  CHECK(unknown.status == 3);
  CHECK(unknown.err.find("called 'c'") != std::string::npos);
  CHECK(unknown.err.find("a float32[2]") != std::string::npos);
}

TEST_CASE("where generated inputs of assumed sizes do not fit, the error says how to give sizes") {
  const test::TempDir folder;
  const std::string model =
      write_text_model(folder, "m.onnx",
                       "<ir_version: 10, opset_import: [\"\" : 21]> g (float[N] x) => (float[2,M] y) "
                       "<int64[2] shape = {2, -1}> { y = Reshape (x, shape) }");
  for (const char* command : {"run", "bench"}) {
    const test::Outcome outcome = run_mlopt({command, model});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("--shape x=DIMS") != std::string::npos);
  }
  CHECK(run_mlopt({"run", model, "--shape", "x=4"}).status == 0);
  CHECK(run_mlopt({"run", model, "--shape", "x=3"}).err.find("--shape") == std::string::npos);
}

TEST_CASE("a batch is as large as is asked for, where the model leaves that open") {
  const test::TempDir folder;
  const std::string open = write_text_model(folder, "open.onnx", test::kTwoLayers), fixed = folder / "fixed.onnx";
  const test::Outcome outcome = run_mlopt({"run", open, "--batch", "5", "--no-prepare", "--json", "-"});
  REQUIRE(outcome.status == 0);
  const Json report = Json::parse(outcome.out);
  CHECK(report.find("outputs")->items()[0].find("type")->string() == "float32[5,3]");
  CHECK(report.find("peak_memory_bytes")->integer() > 1 << 20);
  CHECK(run_mlopt({"run", open, "--batch", "-1"}).status == 2);
  write_text_model(folder, "fixed.onnx",
                   "<ir_version: 10, opset_import: [\"\" : 21]> g (float[2] x) => (float[2] y) { y = Abs (x) }");
  CHECK(run_mlopt({"run", fixed, "--batch", "5"}).status == 3);
  CHECK(run_mlopt({"run", fixed, "--batch", "2"}).status == 0);
}
