#include "core/tensor/tensor.h"

#include <numeric>

#include "core/base/file.h"
#include "core/base/memory.h"
#include "tests/support/catch.h"
#include "tests/support/file_pages.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::file_pages;
using test::says;
using test::TempDir;
using test::thrown_by;

TEST_CASE("copies share bytes until one of them is written") {
  Tensor a = Tensor::of<float>({2}, {1, 2});
  Tensor b = a;
  CHECK(a.raw() == b.raw());
  b.mutable_data<float>()[0] = 9;
  CHECK(a.span<float>()[0] == 1);
  CHECK(b.span<float>()[0] == 9);
  const std::byte* before = b.raw();
  b.mutable_data<float>()[1] = 8;  // its own by now
  CHECK(b.raw() == before);
  Tensor words = Tensor::of_strings({1}, {"x"}), others = words;
  others.mutable_strings()[0] = "y";
  CHECK(words.strings()[0] == "x");
}

TEST_CASE("a view shows what its owner holds, and is never written through") {
  const auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  Tensor view = Tensor::view(DType::kF32, {2, 2}, std::as_bytes(std::span(*owner)), owner);
  CHECK(view.is_view());
  CHECK(view.raw() == reinterpret_cast<const std::byte*>(owner->data()));
  CHECK(owner.use_count() == 2);
  view.mutable_data<float>()[0] = 7;
  CHECK((*owner)[0] == 1);
  CHECK_FALSE(view.is_view());
  CHECK(owner.use_count() == 1);
  CHECK(says(thrown_by([&] { Tensor::view(DType::kF32, {3}, std::as_bytes(std::span(*owner)), owner); }),
             "needs 12 bytes, there are 16"));
}

TEST_CASE("aligned() copies only what lies askew") {
  alignas(16) std::byte bytes[20] = {};
  const Tensor straight = Tensor::view(DType::kF32, {4}, std::span(bytes).first(16), nullptr);
  const Tensor askew = Tensor::view(DType::kF32, {4}, std::span(bytes).subspan(1, 16), nullptr);
  CHECK(straight.aligned().raw() == straight.raw());
  CHECK(askew.aligned().raw() != askew.raw());
  CHECK(reinterpret_cast<uintptr_t>(askew.aligned().raw()) % 16 == 0);
}

TEST_CASE("the pages of a mapped file may be let go of, and only those") {
  const TempDir folder;
  const auto file = MappedFile::open(folder.write("a", std::string(8 << 20, 'x')));
  const auto in_memory = std::make_shared<const std::string>(8 << 20, 'x');
  const Tensor mapped = Tensor::view(DType::kU8, {8 << 20}, file->bytes(), file);
  const Tensor owned = Tensor::view(DType::kU8, {8 << 20}, std::as_bytes(std::span(*in_memory)), in_memory);
  const auto sum = [](const Tensor& t) {
    return std::accumulate(t.span<uint8_t>().begin(), t.span<uint8_t>().end(), 0);
  };
  const int64_t before = file_pages();
  const int64_t expected = sum(mapped);
  const int64_t touched = file_pages() - before;
  for (const Tensor& t : {mapped, owned}) t.release_pages();
  if (touched > 0) CHECK(file_pages() - before < touched / 2);
  for (const Tensor& t : {mapped, owned}) CHECK(sum(t) == expected);
}

TEST_CASE("typed access checks the type") {
  const Tensor t = Tensor::ints({1, 2});
  CHECK(says(thrown_by([&] { t.data<float>(); }), "int64 where float32 is needed"));
  CHECK(says(thrown_by([&] { t.strings(); }), "int64 where string is needed"));
}

TEST_CASE("a shape may change when its size does not") {
  const Tensor t = Tensor::ints({1, 2, 3, 4, 5, 6});
  CHECK(t.reshaped({2, 3}).raw() == t.raw());
  CHECK(says(thrown_by([&] { t.reshaped({4}); }), "cannot reshape: 6 to 4"));
}

TEST_CASE("sizes follow the type, and impossible ones are refused") {
  CHECK(Tensor(DType::kI4, {5}).bytes() == 3);
  CHECK(Tensor::zeros(DType::kF64, {0, 7}).size() == 0);
  CHECK(Tensor::scalar(2.5).rank() == 0);
  CHECK(Tensor::scalar(true).span<bool>()[0]);
  CHECK(thrown_by([] { Tensor(DType::kF32, {int64_t{1} << 60}); }).code == Code::kBadInput);
  CHECK(thrown_by([] { Tensor(DType::kF32, {-1}); }).code == Code::kBadInput);
  const int64_t available = available_memory();
  if (available > 0) {
    const Error error = thrown_by([&] { Tensor(DType::kU8, {available + (available >> 2)}); });
    CHECK(error.code == Code::kUnsupported);
    CHECK(says(error, "out of memory"));
    CHECK(says(thrown_by([&] { Tensor(DType::kString, {available / 16}); }), "out of memory"));
  }
  CHECK(reinterpret_cast<uintptr_t>(Tensor(DType::kU8, {3}).raw()) % 64 == 0);
}
