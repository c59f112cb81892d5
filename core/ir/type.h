#pragma once
#include <memory>
#include <optional>
#include <string>

#include "core/tensor/dim.h"
#include "core/tensor/dims.h"
#include "core/tensor/dtype.h"

namespace mlopt {

/// The static type of a value. A tensor may lack its element type or its shape (rank unknown).
struct Type {
  enum class Kind { kUnknown, kTensor, kSparseTensor, kSequence, kOptional, kMap };

  Kind kind = Kind::kUnknown;
  DType dtype = DType::kUndefined;      ///< of a tensor's elements, of a map's keys
  std::optional<SymDims> dims;          ///< of a tensor; absent: rank unknown
  std::shared_ptr<const Type> element;  ///< of a sequence, an optional, a map's values
  std::string denotation;               ///< kept and written back

  static Type tensor(DType dtype, std::optional<SymDims> dims = std::nullopt);
  static Type tensor(DType dtype, const Dims& dims);
  static Type sequence(Type element);
  static Type optional(Type element);

  bool is_tensor() const { return kind == Kind::kTensor; }
  /// A tensor of a known element type?
  bool has_dtype() const { return is_tensor() && dtype != DType::kUndefined; }
  /// The shape when every dimension is an integer.
  std::optional<Dims> static_dims() const;
};

/// "float32[N,3,224,224]", "sequence(int64[?])", "?".
std::string to_string(const Type& type);

}  // namespace mlopt
