#include "core/tensor/tensor.h"

#include <fmt/core.h>

#include <cstdlib>
#include <memory>

#include "core/base/align.h"
#include "core/base/file.h"
#include "core/base/memory.h"

namespace mlopt {
namespace {

constexpr const char* kOneTensor = "one tensor";

/// Blocks of at most so many bytes, of which loops make many, come from the allocator's quick lists, in one piece with
/// their count of owners: it cuts those that it aligns by itself out of larger ones.
constexpr size_t kSmall = size_t{1} << 16;

std::shared_ptr<std::byte> allocate_small(size_t bytes) {
  size_t space = bytes + kAlignment - 1;
  const auto block = std::make_shared_for_overwrite<std::byte[]>(space);
  void* p = block.get();
  return {block, static_cast<std::byte*>(std::align(kAlignment, bytes, p, space))};
}

std::shared_ptr<std::byte> allocate(size_t bytes) {
  if (bytes <= kSmall) return allocate_small(bytes);
  require_memory(bytes, kOneTensor);
  auto* p = static_cast<std::byte*>(allocate_aligned(bytes));
  if (!p) unsupported_error("out of memory", {}, "use a smaller batch or a machine with more memory");
  return {p, [](std::byte* q) { std::free(q); }};
}

}  // namespace

Tensor::Tensor(DType type, Dims dims) : dtype_(type), dims_(std::move(dims)) {
  size_ = element_count(dims_);
  if (type == DType::kString) {
    require_memory(static_cast<size_t>(size_) * sizeof(std::string), kOneTensor);
    strings_ = std::make_shared<std::vector<std::string>>(static_cast<size_t>(size_));
    return;
  }
  bytes_ = packed_bytes(type, size_);
  auto bytes = allocate(bytes_);
  data_ = bytes.get();
  owner_ = std::move(bytes);
}

Tensor Tensor::view(DType type, Dims dims, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Tensor t;
  t.dtype_ = type;
  t.dims_ = std::move(dims);
  t.size_ = element_count(t.dims_);
  t.bytes_ = packed_bytes(type, t.size_);
  if (t.bytes_ != bytes.size())
    input_error("tensor data do not fit its shape", fmt::format("{} {} needs {} bytes, there are {}", name(type),
                                                                to_string(t.dims_), t.bytes_, bytes.size()));
  t.data_ = bytes.data();
  t.owner_ = std::move(owner);
  t.view_ = true;
  return t;
}

Tensor Tensor::zeros(DType type, Dims dims) {
  Tensor t(type, std::move(dims));
  if (t.bytes_) std::memset(t.mutable_raw(), 0, t.bytes_);
  return t;
}

Tensor Tensor::of_strings(Dims dims, std::vector<std::string> values) {
  Tensor t;
  t.dtype_ = DType::kString;
  t.dims_ = std::move(dims);
  t.size_ = element_count(t.dims_);
  if (t.size_ != static_cast<int64_t>(values.size())) internal_error("Tensor::of_strings: values do not fit the shape");
  t.strings_ = std::make_shared<std::vector<std::string>>(std::move(values));
  return t;
}

std::byte* Tensor::mutable_raw() {
  if (shared()) {
    auto bytes = allocate(bytes_);
    if (bytes_) std::memcpy(bytes.get(), data_, bytes_);
    data_ = bytes.get();
    owner_ = std::move(bytes);
    view_ = false;
  }
  return const_cast<std::byte*>(data_);
}

const std::vector<std::string>& Tensor::strings() const {
  if (!strings_) wrong_type(DType::kString);
  return *strings_;
}

std::vector<std::string>& Tensor::mutable_strings() {
  if (!strings_) wrong_type(DType::kString);
  if (strings_.use_count() > 1) strings_ = std::make_shared<std::vector<std::string>>(*strings_);
  return *strings_;
}

Tensor Tensor::aligned() const {
  if (!view_ || reinterpret_cast<uintptr_t>(data_) % 16 == 0) return *this;
  Tensor copy = *this;
  copy.mutable_raw();
  return copy;
}

void Tensor::release_pages() const {
  if (const MappedFile* file = MappedFile::behind(owner_)) file->release(raw_bytes());
}

Tensor Tensor::reshaped(Dims dims) const {
  if (element_count(dims) != size_)
    input_error("cannot reshape", fmt::format("{} to {}", to_string(dims_), to_string(dims)));
  Tensor t = *this;
  t.dims_ = std::move(dims);
  return t;
}

void Tensor::wrong_type(DType asked) const {
  input_error("unexpected tensor type", fmt::format("{} where {} is needed", name(dtype_), name(asked)));
}

}  // namespace mlopt
