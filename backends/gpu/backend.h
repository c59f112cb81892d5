#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "core/exec/backend.h"
#include "core/exec/kernel.h"
#include "core/ir/infer.h"

struct GpuInterface;

namespace mlopt {

/// The operator of the steps of a profile that are copies, for a node that the host runs (GpuHost::may_run).
inline constexpr std::string_view kHostCopies = "HostCopies";

/// What the GPU backend does not do itself.
struct GpuHost {
  std::vector<Kernel> kernels = {};  ///< that fold constants, and run what no kernel there runs where that is allowed
  bool may_run = false;              ///< --fallback cpu
  TypeRule types = nullptr;          ///< as for infer()
  bool autotune = false;             ///< the library's algorithms are timed, and the fastest kept for later runs
};

/// Runs graphs on the device of this number by plans of known shapes; float32 as it is (TF32 where asked), float16 and
/// bfloat16 summed in float32. Throws Error{kUnsupported} where there is no driver or no such device, or it is too old.
std::unique_ptr<Backend> gpu_backend(const GpuInterface& api, int device, GpuHost host);

}  // namespace mlopt
