#pragma once
#include <string>
#include <vector>

#include "core/data/input_spec.h"

namespace mlopt::test {

/// One tensor input; a dimension of -1 is the free dimension "N".
inline InputSpec input(std::string name, DType dtype, const std::vector<int64_t>& dims) {
  InputSpec spec;
  spec.name = std::move(name);
  spec.dtype = dtype;
  for (const int64_t d : dims) spec.dims.push_back(d < 0 ? Dim::symbol("N") : Dim(d));
  return spec;
}

}  // namespace mlopt::test
