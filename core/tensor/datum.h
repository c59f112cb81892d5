#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace mlopt {

/// What flows along an edge at run time: a tensor, a sequence, a map, an optional's contents, or nothing.
class Datum {
 public:
  enum class Kind { kNone, kTensor, kSequence, kMap };

  Datum() = default;                                                ///< nothing: an omitted input, an empty optional
  Datum(Tensor t) : kind_(Kind::kTensor), tensor_(std::move(t)) {}  // NOLINT(google-explicit-constructor)
  static Datum sequence(std::vector<Datum> items);
  /// Keys (a rank-1 int64 or string tensor) and one value for each key.
  static Datum map(Tensor keys, std::vector<Datum> values);

  Kind kind() const { return kind_; }
  bool is_tensor() const { return kind_ == Kind::kTensor; }
  bool is_none() const { return kind_ == Kind::kNone; }

  const Tensor& tensor() const;                   ///< throws Error{kBadInput} when it is not a tensor
  const std::vector<Datum>& items() const;        ///< of a sequence or a map; throws otherwise
  const Tensor& keys() const { return tensor_; }  ///< of a map

 private:
  Kind kind_ = Kind::kNone;
  Tensor tensor_;
  std::shared_ptr<const std::vector<Datum>> items_;
};

}  // namespace mlopt
