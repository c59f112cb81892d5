#include "core/data/open.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/temp_dir.h"

namespace mlopt {
namespace {

/// Stands for who reads protobuf: the values are the folder's number, and ten times it.
std::vector<Datum> read_folder(const std::string& folder, bool expected) {
  const float k = static_cast<float>(folder.back() - '0');
  return {Datum(Tensor::scalar(expected ? 10 * k : k))};
}

std::unique_ptr<Dataset> open(const std::string& path) {
  DataOptions options;
  options.read_test_set = read_folder;
  return open_dataset(parse_data_spec(path), {test::input("x", DType::kF32, {})}, options);
}

}  // namespace

TEST_CASE("ONNX test data: one folder, or all of a model's in the order of their numbers") {
  const test::TempDir folder;
  for (const char* name : {"test_data_set_2", "test_data_set_0", "test_data_set_1"}) {
    folder.write(std::string(name) + "/input_0.pb", "");
    folder.write(std::string(name) + "/output_0.pb", "");
  }
  folder.write("test_data_set_x/input_0.pb", "");
  const auto all = open(folder.path().string());
  REQUIRE(all->size() == 3);
  CHECK(all->labelled());
  CHECK(all->batch_size() == 1);
  const Batch last = all->batch(2, 1);
  CHECK(to_doubles(last.inputs[0].tensor())[0] == 2);
  CHECK(to_doubles(*last.labels)[0] == 20);
  const auto one = open(folder / "test_data_set_1");
  CHECK(one->size() == 1);
  CHECK(to_doubles(one->batch(0, 1).inputs[0].tensor())[0] == 1);
  std::filesystem::remove(folder / "test_data_set_1/output_0.pb");
  CHECK(!open(folder.path().string())->labelled());
}

}  // namespace mlopt
