#include "backends/reference/kernels.h"

#include <initializer_list>

namespace mlopt::reference {

std::vector<Kernel> all_kernels() {
  std::vector<Kernel> all;
  const std::initializer_list<std::span<const Kernel>> families = {
      shape_kernels(),
      constant_kernels(),
      transpose_kernels(),
      concat_split_kernels(),
      slice_kernels(),
      pad_kernels(),
      gather_kernels(),
      scatter_kernels(),
      sort_kernels(),
      resize_kernels(),
  };
  for (const auto family : families) all.insert(all.end(), family.begin(), family.end());
  return all;
}

}  // namespace mlopt::reference
