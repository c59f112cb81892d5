#include "core/onnx/io.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/message.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using namespace mlopt::test;

namespace {

/// The tensor that an initializer with these fields becomes.
Tensor initializer(DType type, const std::vector<int64_t>& dims, const std::string& data) {
  std::string tensor = number(2, static_cast<uint64_t>(type)) + bytes(8, "w") + data;
  for (const int64_t dim : dims) tensor += number(1, static_cast<uint64_t>(dim));
  return *read_model_bytes(model_with(bytes(5, tensor))).graph->find("w")->constant;
}

/// An initializer as it is after a model is written and read.
Tensor rewritten(const Tensor& tensor) {
  Model model;
  model.ir_version = 10;
  model.graph->add_constant("w", tensor);
  return *read_model_bytes(write_model_bytes(model)).graph->find("w")->constant;
}

std::string packed(uint32_t field, const std::vector<uint64_t>& values) {
  std::string list;
  for (const uint64_t value : values) list += varint(value);
  return bytes(field, list);
}

template <class T>
std::string raw(uint32_t field, const std::vector<T>& values) {
  return bytes(field, {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
}

constexpr uint64_t kMinusOne = UINT64_MAX;

}  // namespace

TEST_CASE("values in typed fields become the tensor's bytes") {
  CHECK(to_floats(initializer(DType::kF32, {2}, raw<float>(4, {1.5f, -2}))) == std::vector<float>{1.5f, -2});
  CHECK(to_doubles(initializer(DType::kF64, {1}, raw<double>(10, {0.1}))) == std::vector<double>{0.1});
  CHECK(to_ints(initializer(DType::kI64, {2}, packed(7, {3, kMinusOne}))) == std::vector<int64_t>{3, -1});
  CHECK(to_ints(initializer(DType::kI32, {2}, packed(5, {3, kMinusOne}))) == std::vector<int64_t>{3, -1});
  CHECK(to_ints(initializer(DType::kI16, {1}, packed(5, {kMinusOne}))) == std::vector<int64_t>{-1});
  CHECK(to_ints(initializer(DType::kI8, {2}, packed(5, {127, kMinusOne}))) == std::vector<int64_t>{127, -1});
  CHECK(to_ints(initializer(DType::kU8, {1}, packed(5, {200}))) == std::vector<int64_t>{200});
  CHECK(to_ints(initializer(DType::kU16, {1}, packed(5, {65535}))) == std::vector<int64_t>{65535});
  CHECK(to_ints(initializer(DType::kU32, {1}, packed(11, {UINT32_MAX}))) == std::vector<int64_t>{UINT32_MAX});
  CHECK(to_doubles(initializer(DType::kU64, {1}, packed(11, {1ULL << 63}))) == std::vector<double>{0x1p63});
  CHECK(to_ints(initializer(DType::kBool, {3}, packed(5, {1, 0, 1}))) == std::vector<int64_t>{1, 0, 1});
  CHECK(to_floats(initializer(DType::kF16, {1}, packed(5, {0x3e00}))) == std::vector<float>{1.5f});
  CHECK(to_floats(initializer(DType::kBF16, {1}, packed(5, {0x3fc0}))) == std::vector<float>{1.5f});
  CHECK(to_floats(initializer(DType::kF8E5M2, {1}, packed(5, {0x3e}))) == std::vector<float>{1.5f});
  CHECK(to_ints(initializer(DType::kI4, {3}, packed(5, {0xf1, 0x07}))) == std::vector<int64_t>{1, -1, 7});
  CHECK(to_ints(initializer(DType::kU2, {5}, packed(5, {0xe4, 0x02}))) == std::vector<int64_t>{0, 1, 2, 3, 2});
  CHECK(initializer(DType::kString, {2}, bytes(6, "a") + bytes(6, "")).strings() == std::vector<std::string>{"a", ""});
  CHECK(initializer(DType::kC64, {1}, raw<float>(4, {1, 2})).bytes() == 8);
  CHECK(initializer(DType::kF32, {0, 3}, "").size() == 0);
}

TEST_CASE("every element type passes through a file") {
  for (int number = 1; number < kDTypeCount; ++number) {
    const auto type = static_cast<DType>(number);
    CAPTURE(name(type));
    for (const int64_t count : {int64_t{0}, int64_t{5}, int64_t{20'001}}) {
      Tensor tensor(type, {count});
      if (type == DType::kString) tensor.mutable_strings().assign(static_cast<size_t>(count), "text");
      for (size_t i = 0; i < tensor.bytes(); ++i) tensor.mutable_raw()[i] = static_cast<std::byte>(i * 7 % 251);
      const Tensor read = rewritten(tensor);
      REQUIRE(read.dtype() == type);
      REQUIRE(read.dims() == tensor.dims());
      REQUIRE(std::equal(read.raw_bytes().begin(), read.raw_bytes().end(), tensor.raw_bytes().begin()));
      if (type == DType::kString) REQUIRE(read.strings() == tensor.strings());
    }
  }
}

TEST_CASE("tensors that cannot be are named, before anything is allocated") {
  const auto error = [](DType type, const std::vector<int64_t>& dims, const std::string& data) {
    return error_of([&] { initializer(type, dims, data); });
  };
  CHECK(contains(error(DType::kF32, {int64_t{1} << 60}, raw<float>(9, {1})), "impossible"));
  CHECK(contains(error(DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}, raw<float>(9, {1})), "impossible"));
  CHECK(contains(error(DType::kF32, {int64_t{1} << 45}, raw<float>(9, {1})), "do not fit the shape"));
  CHECK(contains(error(DType::kF32, {int64_t{1} << 45}, ""), "do not fit the shape"));
  CHECK(contains(error(DType::kString, {int64_t{1} << 45}, bytes(6, "a")), "do not fit the shape"));
  CHECK(contains(error(DType::kF32, {-1}, raw<float>(9, {1})), "negative"));
  CHECK(contains(error(DType::kF32, {1}, raw<float>(9, {1}) + raw<float>(4, {1})), "given twice"));
  CHECK(contains(error(DType::kString, {1}, bytes(9, "a")), "strings stored as raw data"));
  CHECK(contains(error(DType::kUndefined, {1}, raw<float>(9, {1})), "without an element type"));
  CHECK(contains(error(static_cast<DType>(99), {1}, raw<float>(9, {1})), "element type 99"));
  CHECK(test::thrown_by([] { initializer(static_cast<DType>(99), {1}, raw<float>(9, {1})); }).code == Code::kBadInput);
  CHECK(contains(error(DType::kF32, {2}, raw<float>(9, {1})), "tensor 'w'"));
}

TEST_CASE("data of 1 KB and more are views, smaller ones are not") {
  Model model;
  model.graph->add_constant("large", Tensor::zeros(DType::kU8, {1024}));
  model.graph->add_constant("small", Tensor::zeros(DType::kU8, {1023}));
  const Model read = read_model_bytes(write_model_bytes(model));
  CHECK(read.graph->find("large")->constant->is_view());
  CHECK_FALSE(read.graph->find("small")->constant->is_view());
}
