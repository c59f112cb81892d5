#include "core/tensor/datum.h"

#include "core/base/error.h"

namespace mlopt {

Datum Datum::sequence(std::vector<Datum> items) {
  Datum d;
  d.kind_ = Kind::kSequence;
  d.items_ = std::make_shared<const std::vector<Datum>>(std::move(items));
  return d;
}

Datum Datum::map(Tensor keys, std::vector<Datum> values) {
  Datum d = sequence(std::move(values));
  d.kind_ = Kind::kMap;
  d.tensor_ = std::move(keys);
  return d;
}

const Tensor& Datum::tensor() const {
  if (kind_ != Kind::kTensor) input_error(kind_ == Kind::kNone ? "a tensor is missing" : "a tensor is expected");
  return tensor_;
}

const std::vector<Datum>& Datum::items() const {
  if (!items_) input_error("a sequence or a map is expected");
  return *items_;
}

}  // namespace mlopt
