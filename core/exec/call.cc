#include <fmt/core.h>

#include "core/base/error.h"
#include "core/exec/kernel.h"
#include "core/tensor/cast.h"

namespace mlopt {

const Datum& Call::datum(int i) const {
  if (i >= input_count() || !inputs_[static_cast<size_t>(i)])
    input_error(fmt::format("input {} is missing", i), view.node().label());
  return *inputs_[static_cast<size_t>(i)];
}

const Tensor& Call::in(int i) const {
  const Datum& d = datum(i);
  if (!d.is_tensor()) input_error(fmt::format("input {} is not a tensor", i), view.node().label());
  return d.tensor();
}

void Call::set(int i, Datum value) {
  if (wants(i)) outputs_[static_cast<size_t>(i)] = std::move(value);
}

Tensor& Call::make(int i, DType type, Dims dims) {
  Datum& slot = outputs_[static_cast<size_t>(i)];
  slot = Tensor(type, std::move(dims));
  return const_cast<Tensor&>(slot.tensor());
}

std::vector<int64_t> Call::ints(std::string_view attr, int i, std::vector<int64_t> otherwise) const {
  if (has(i)) return to_ints(in(i));
  return view.get_ints(attr, std::move(otherwise));
}

}  // namespace mlopt
