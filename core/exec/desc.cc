#include "core/exec/desc.h"

namespace mlopt {

Dims TensorDesc::memory_dims() const {
  if (layout == Layout::kRowMajor) return dims;
  Dims lies{dims[0]};
  lies.insert(lies.end(), dims.begin() + 2, dims.end());
  lies.push_back(dims[1]);
  return lies;
}

Dims TensorDesc::strides() const {
  Dims strides = row_major_strides(memory_dims());
  if (layout == Layout::kRowMajor) return strides;
  strides.insert(strides.begin() + 1, strides.back());
  strides.pop_back();
  return strides;
}

bool TensorDesc::is_any_layout() const {
  if (dims.size() < 3 || dims[1] == 1) return true;
  for (size_t axis = 2; axis < dims.size(); ++axis)
    if (dims[axis] != 1) return false;
  return true;
}

}  // namespace mlopt
