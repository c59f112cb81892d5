// Copies between layouts: of constants by the host, once, of all else by the device.
#include <cstring>

#include "backends/gpu/operand.h"
#include "core/base/error.h"

namespace mlopt::gpu {
namespace {

void copy_on_host(const Dims& dims, const Dims& from, const Dims& to, size_t width, const std::byte* in,
                  std::byte* out) {
  Dims at(dims.size(), 0);
  for (int64_t count = element_count(dims); count > 0; --count) {
    int64_t read = 0, written = 0;
    for (size_t k = 0; k < dims.size(); ++k) {
      read += at[k] * from[k];
      written += at[k] * to[k];
    }
    std::memcpy(out + static_cast<size_t>(written) * width, in + static_cast<size_t>(read) * width, width);
    for (size_t k = dims.size(); k-- > 0 && ++at[k] == dims[k];) at[k] = 0;
  }
}

}  // namespace

PlannedStep plan_reorder(const TensorDesc& from, const TensorDesc& to, const CompileContext&) {
  const int width = bits(from.dtype) / 8;
  const auto walk = walk_over<2>(in_memory_order(from.dims, to.layout), {in_memory_order(from.strides(), to.layout),
                                                                         in_memory_order(to.strides(), to.layout)});
  if (!walk || from.dtype != to.dtype)
    unsupported_error("the GPU backend cannot copy a tensor of " + to_string(from.dims) + " into another layout");
  PlannedStep step{.out = {to}};
  step.label = "layout";
  step.run = [from, to, width, walk = *walk](const Buffers& b) {
    if (!b.memo.has_value())  // no queue: a constant, when the plan is made
      return copy_on_host(from.dims, from.strides(), to.strides(), static_cast<size_t>(width), b.in<std::byte>(0),
                          b.out<std::byte>(0));
    launch(b, &Kernels::copy, CopyArgs{width, walk, b.in<void>(0), b.out<void>(0)});
  };
  return step;
}

}  // namespace mlopt::gpu
