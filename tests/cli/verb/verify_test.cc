#include "core/data/array_file.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("a model that runs on one sample only, whatever it declares, is verified on one at a time") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", R"(<ir_version: 10, opset_import: ["" : 21]>
    g (float[N,2] x) => (float[1,2] y) <int64[2] s = {1, 2}> { a = Reshape (x, s)  b = Identity (a)  y = Relu (b) })");
  const std::string data = folder / "d.npz";
  write_npz(data, {{"x", Tensor::of<float>({3, 2}, {1, -2, 3, -4, 5, -6})}});
  const auto result = run_mlopt({"fuse", model, "-o", folder / "out.onnx", "--data", data, "--no-bench", "--strict"});
  INFO(result.err);
  CHECK(result.status == 0);
}

TEST_CASE("data that do not fit the model at all are an error") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), data = folder / "d.npz";
  write_npz(data, {{"nothing", Tensor::of<float>({1, 2}, {1, 2})}});
  const auto result = run_mlopt({"fuse", model, "-o", folder / "out.onnx", "--data", data, "--no-bench"});
  CHECK(result.status == 3);
  CHECK(result.err.find("nothing") != std::string::npos);
}
