#include "backends/cpu/backend.h"
#include "core/onnx/infer.h"
#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

OpOptions window(const Ints& kernel, const Ints& strides, const Ints& pads = {}) {
  OpOptions options{.attrs = {{"kernel_shape", kernel, ""}, {"strides", strides, ""}}};
  if (!pads.empty()) options.attrs.push_back({"pads", pads, ""});
  return options;
}

/// What MaxPool makes of a picture of these dims: maxima and indices.
std::vector<Datum> pooled(const Dims& picture, OpOptions options) {
  options.outputs = 2;
  return run_node("MaxPool", {uniform(picture, 1, 2)}, options);
}

const OpOptions kTwo = window({2, 2}, {2, 2});

std::string error_on_cpu(const std::vector<Datum>& inputs) {
  const std::unique_ptr<Backend> cpu = cpu_backend({}, standard_types);
  OpOptions options = kTwo;
  options.backend = cpu.get();
  return error_of("MaxUnpool", inputs, options);
}

}  // namespace

TEST_CASE("maxima return to where they were, over one to three axes") {
  struct Case {
    Dims picture;
    Ints kernel, strides, pads;
  };
  const Case cases[] = {
      {{2, 3, 12, 14}, {2, 2}, {2, 2}, {}},
      {{2, 40, 32, 30}, {2, 2}, {2, 2}, {}},
      {{1, 3, 9, 11}, {3, 3}, {2, 2}, {}},
      {{2, 2, 9, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {{2, 3, 30}, {3}, {3}, {}},
      {{2, 2, 6, 9}, {2, 3}, {1, 2}, {0, 1, 0, 1}},
      {{2, 2, 4, 6, 8}, {2, 2, 2}, {2, 2, 2}, {}},
      {{1, 2, 5, 5}, {3, 3}, {1, 1}, {}},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.picture));
    const OpOptions how = window(c.kernel, c.strides, c.pads);
    const std::vector<Datum> from = pooled(c.picture, how);
    require_as_reference("MaxUnpool", {from[0], from[1]}, how, 0);
  }
}

TEST_CASE("a picture that output_shape enlarges along any axis") {
  const std::vector<Datum> from = pooled({2, 3, 12, 14}, kTwo);
  OpOptions how = kTwo;
  how.fixed = true;
  for (const Dims& shape : {Dims{2, 3, 12, 14}, Dims{2, 3, 13, 14}, Dims{2, 3, 12, 15}, Dims{3, 4, 13, 17}})
    require_as_reference("MaxUnpool", {from[0], from[1], Tensor::ints(shape)}, how, 0);
}

TEST_CASE("indices of other planes, and the last of several for one pixel") {
  const Tensor x = uniform({2, 3, 4, 5}, 1, 2);
  for (const double above : {1.0, 80.0, 160.0, 480.0})
    require_as_reference("MaxUnpool", {x, uniform(x.dims(), 0, above, DType::kI64)}, kTwo, 0);
  Tensor last = Tensor::zeros(DType::kI64, x.dims());
  last.mutable_data<int64_t>()[last.size() - 1] = 479;
  require_as_reference("MaxUnpool", {x, last}, kTwo, 0);
}

TEST_CASE("indices outside the picture are refused in the reference's words") {
  const Tensor x = uniform({1, 2, 1, 2}, 1, 2);
  for (const double index : {-1.0, 16.0, 1e18}) {
    const Tensor places = tensor(x.dims(), {0, 5, 9, index}, DType::kI64);
    CHECK(error_on_cpu({x, places}).find("an index is outside the output") != std::string::npos);
    CHECK(error_of("MaxUnpool", {x, places}, kTwo).find("an index is outside the output") != std::string::npos);
  }
}

TEST_CASE("what does not fit is left to the reference, which explains it") {
  const Tensor x = uniform({1, 1, 1, 2}, 1, 2), places = tensor(x.dims(), {0, 5}, DType::kI64);
  const auto error = [](const std::vector<Datum>& inputs, OpOptions options) {
    const std::unique_ptr<Backend> cpu = cpu_with_fallback();
    options.backend = cpu.get();
    options.fixed = inputs.size() > 2;
    return error_of("MaxUnpool", inputs, options);
  };
  const auto has = [](const std::string& text, const char* words) { return text.find(words) != std::string::npos; };
  CHECK(has(error({x, tensor({1, 1, 2, 1}, {0, 5}, DType::kI64)}, kTwo), "the indices do not fit"));
  CHECK(has(error({x, places}, {}), "kernel_shape"));
  CHECK(has(error({x, places}, window({2}, {2, 2})), "kernel_shape must have 2 numbers"));
  CHECK(has(error({x, places}, window({2, 2}, {0, 2})), "strides has the impossible value 0"));
  CHECK(has(error({x, places, Tensor::ints({1, 1, 2, 3})}, kTwo), "output_shape is too small"));
  CHECK(has(error({x, places, Tensor::ints({1, 2, 4})}, kTwo), "output_shape has another number of axes"));
}

TEST_CASE("other types and an output_shape that only the run tells are for other kernels") {
  const Tensor x = uniform({1, 1, 1, 2}, 1, 2), places = tensor(x.dims(), {0, 5}, DType::kI64);
  CHECK(error_on_cpu({uniform(x.dims(), 1, 2, DType::kF64), places}).find("MaxUnpool") != std::string::npos);
  CHECK(error_on_cpu({x, places, Tensor::ints({1, 1, 2, 5})}).find("MaxUnpool") != std::string::npos);
}

}  // namespace mlopt::test
