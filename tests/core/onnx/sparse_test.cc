#include <filesystem>

#include "backends/reference/backend.h"
#include "core/onnx/io.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/message.h"
#include "tests/support/rewrite.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;
using namespace mlopt::test;

namespace {

std::string vector_of(uint32_t type, int64_t count, const std::string& raw) {
  return number(1, static_cast<uint64_t>(count)) + number(2, type) + bytes(9, raw);
}

std::string int64s(const std::vector<int64_t>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t)};
}

/// Values 1 and 2 (bytes) at these places of a tensor of these dimensions.
std::string sparse(const std::vector<int64_t>& indices, const std::string& index_dims,
                   const std::vector<int64_t>& dims) {
  std::string shape;
  for (const int64_t d : dims) shape += number(3, static_cast<uint64_t>(d));
  return bytes(1, vector_of(2, 2, "\1\2")) + bytes(2, index_dims + number(2, 7) + bytes(9, int64s(indices))) + shape;
}

/// A graph whose one node, a Constant with this sparse value, gives its output y, of this type where one is stated.
std::string constant(const std::string& sparse_tensor, const std::string& type = {}) {
  const std::string attribute = bytes(1, "sparse_value") + number(20, 11) + bytes(22, sparse_tensor);
  return model_with(bytes(1, bytes(2, "y") + bytes(4, "Constant") + bytes(5, attribute)) +
                    bytes(12, bytes(1, "y") + type));
}

std::vector<int64_t> value_of(const std::string& model) {
  const auto plan = reference_backend()->compile(read_model_bytes(model), {});
  return to_ints(plan->run({})[0].tensor());
}

}  // namespace

TEST_CASE("a sparse constant is known as a dense one, and written back sparse") {
  const std::string places = constant(sparse({1, 5}, number(1, 2), {2, 3}));
  CHECK(value_of(places) == std::vector<int64_t>{0, 1, 0, 0, 0, 2});
  CHECK(to_string(read_model_bytes(places).graph->find("y")->type) == "uint8[2,3]");
  CHECK(value_of(write_model_bytes(read_model_bytes(places))) == std::vector<int64_t>{0, 1, 0, 0, 0, 2});
  CHECK(write_model_bytes(read_model_bytes(places)).size() < 120);
  const std::string coordinates = constant(sparse({0, 1, 1, 2}, number(1, 2) + number(1, 2), {2, 3}));
  CHECK(value_of(coordinates) == std::vector<int64_t>{0, 1, 0, 0, 0, 2});
}

TEST_CASE("an output that is called sparse goes on being called so") {
  const std::string type = bytes(2, bytes(8, number(1, 2)));  // a sparse tensor of uint8
  const std::string model = constant(sparse({1, 5}, number(1, 2), {2, 3}), type);
  CHECK(write_model_bytes(read_model_bytes(model)).find(type) != std::string::npos);
}

TEST_CASE("indices that do not fit are refused, and large tensors stay sparse") {
  const auto error = [](const std::string& model) { return error_of([&] { read_model_bytes(model); }); };
  CHECK(contains(error(constant(sparse({1, 6}, number(1, 2), {2, 3}))), "out of range"));
  CHECK(contains(error(constant(sparse({-1, 5}, number(1, 2), {2, 3}))), "out of range"));
  CHECK(contains(error(constant(sparse({0, 3, 1, 2}, number(1, 2) + number(1, 2), {2, 3}))), "out of range"));
  CHECK(contains(error(constant(sparse({1}, number(1, 1), {2, 3}))), "do not fit"));
  CHECK(contains(error(constant(sparse({1, 5}, number(1, 2), {int64_t{1} << 60}))), "too large"));
  const Model large = read_model_bytes(constant(sparse({1, 5}, number(1, 2), {int64_t{1} << 40})));
  CHECK_FALSE(large.graph->find("y")->constant);
}

namespace {

std::string initializer(const std::vector<int64_t>& indices) {
  const std::string weights =
      bytes(15, bytes(1, vector_of(2, 2, "\1\2") + bytes(8, "w")) +
                    bytes(2, number(1, 2) + number(2, 7) + bytes(9, int64s(indices))) + number(3, 6));
  const std::string node = bytes(1, bytes(1, "w") + bytes(2, "y") + bytes(4, "Identity"));
  return model_with(node + weights + bytes(12, bytes(1, "y")));
}

}  // namespace

TEST_CASE("a sparse initializer that is used is a constant like others") {
  CHECK(value_of(initializer({1, 5})) == std::vector<int64_t>{0, 1, 0, 0, 0, 2});
  const Model model = read_model_bytes(initializer({1, 5}));
  CHECK(model.graph->find("w")->known_constant());
  CHECK(value_of(write_model_bytes(model)) == std::vector<int64_t>{0, 1, 0, 0, 0, 2});
}

TEST_CASE("a sparse initializer that is wrong cannot be run, and is named") {
  const Model model = read_model_bytes(initializer({1, 6}));
  CHECK(contains(error_of([&] { reference_backend()->compile(model, {}); }), "the sparse initializer 'w'"));
}

TEST_CASE("weights are written without their zeros where that takes less room") {
  const test::TempDir folder;
  Model model = test::fixture(
      "g (float[N,20] x, float[20,30] V, float[20,30] W) => (float[N,30] y, float[N,30] z) {"
      " y = MatMul (x, V) z = MatMul (x, W) }");
  const auto keep_every = [&](const char* name, int64_t step) {
    Tensor& t = *model.graph->find(name)->constant;
    for (int64_t i = 0; i < t.size(); ++i)
      if (i % step != 0) t.mutable_data<float>()[i] = 0;
  };
  keep_every("V", 10);
  keep_every("W", 3);  // exactly as much room as it takes whole
  const std::string path = folder / "m.onnx";
  write_model(model, path, {.sparse = true});
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path));
  CHECK(size == written_size(model, path, {.sparse = true}));
  CHECK(size < written_size(model, path) - 2400 + 60 * 12 + 100);
  CHECK(size > 2400 + 60 * 12);
  const Model again = read_model(path);
  CHECK(written_size(clone(again), path) == size);  // and so it stays
  for (const char* name : {"V", "W"})
    CHECK(to_doubles(*again.graph->find(name)->constant) == to_doubles(*model.graph->find(name)->constant));
}
