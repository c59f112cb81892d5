#pragma once
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/dims.h"
#include "core/tensor/dtype.h"
#include "core/tensor/small_float.h"

namespace mlopt {

/// The DType of a C++ type that stores one element.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::kF32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::kF64;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::kBool;
  else if constexpr (std::is_same_v<T, int8_t>)
    return DType::kI8;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return DType::kU8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return DType::kI16;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return DType::kU16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return DType::kI32;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return DType::kU32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return DType::kI64;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return DType::kU64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::kF16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::kBF16;
  else
    return DType::kUndefined;
}

/// A dense row-major array {dtype, dims, bytes}: owning, or a view of a mapped file. Copies share the bytes; writing to
/// shared bytes or to a view copies them first. Strings live in a vector of their own.
class Tensor {
 public:
  Tensor() = default;
  /// Owning, 64-byte aligned, not initialised (strings empty). Throws Error{kBadInput} for an impossible size.
  Tensor(DType type, Dims dims);

  /// A view of `bytes` kept alive by `owner`; any alignment. Throws when the size does not fit the type and dims.
  static Tensor view(DType type, Dims dims, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  static Tensor zeros(DType type, Dims dims);
  static Tensor of_strings(Dims dims, std::vector<std::string> values);
  template <class T>
  static Tensor of(Dims dims, const std::vector<T>& values);
  template <class T>
  static Tensor scalar(T value) {
    Tensor t(dtype_of<T>(), {});
    *t.mutable_data<T>() = value;
    return t;
  }
  /// A rank-1 int64 tensor.
  static Tensor ints(const std::vector<int64_t>& values) {
    return of<int64_t>({static_cast<int64_t>(values.size())}, values);
  }

  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  int64_t dim(int i) const { return dims_[static_cast<size_t>(i)]; }
  int rank() const { return static_cast<int>(dims_.size()); }
  /// Elements.
  int64_t size() const { return size_; }
  /// Bytes as stored (sub-byte types packed); 0 for strings.
  size_t bytes() const { return bytes_; }

  const std::byte* raw() const { return data_; }
  std::span<const std::byte> raw_bytes() const { return {data_, bytes_}; }
  /// Do other tensors have these bytes too, or is it a view of others' memory?
  bool shared() const { return view_ || owner_.use_count() > 1; }
  /// Writable bytes; copies when they are shared or a view.
  std::byte* mutable_raw();

  /// Typed elements. T is the storage type (uint8_t for bool's bytes is allowed as `bool`). The bytes must be aligned:
  /// call aligned() first on a tensor that may view a file.
  template <class T>
  const T* data() const {
    check<T>();
    return reinterpret_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_data() {
    check<T>();
    return reinterpret_cast<T*>(mutable_raw());
  }
  template <class T>
  std::span<const T> span() const {
    return {data<T>(), static_cast<size_t>(size_)};
  }

  const std::vector<std::string>& strings() const;
  std::vector<std::string>& mutable_strings();

  /// Itself when its bytes are aligned to 16, else an aligned copy.
  Tensor aligned() const;
  /// The same bytes with other dims of the same size.
  Tensor reshaped(Dims dims) const;
  bool is_view() const { return view_; }
  /// Lets go of the memory behind a view of a mapped file, which is read again when it is looked at again; changes
  /// nothing for others.
  void release_pages() const;

 private:
  template <class T>
  void check() const {
    if (dtype_of<T>() != dtype_) wrong_type(dtype_of<T>());
  }
  [[noreturn]] void wrong_type(DType asked) const;

  DType dtype_ = DType::kUndefined;
  bool view_ = false;
  Dims dims_;
  int64_t size_ = 0;
  size_t bytes_ = 0;
  const std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<std::vector<std::string>> strings_;
};

template <class T>
Tensor Tensor::of(Dims dims, const std::vector<T>& values) {
  Tensor t(dtype_of<T>(), std::move(dims));
  if (t.size() != static_cast<int64_t>(values.size())) internal_error("Tensor::of: values do not fit the shape");
  T* out = t.mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = values[i];
  return t;
}

}  // namespace mlopt
