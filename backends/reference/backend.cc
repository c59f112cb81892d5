#include "backends/reference/backend.h"

#include "backends/reference/kernels.h"
#include "core/base/error.h"
#include "core/exec/interpreter.h"

namespace mlopt {
namespace {

class ReferenceBackend : public Backend {
 public:
  std::string_view name() const override { return "reference"; }
  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) override {
    if (options.precision != Precision::kF32)
      unsupported_error("the reference backend computes in fp32 only", "--precision",
                        "leave it out, or use --device cpu");
    const std::vector<Kernel> kernels = reference::all_kernels();
    const KernelList list{"reference", kernels};
    return compile_interpreter(model, options, std::span(&list, 1));
  }
};

}  // namespace

std::unique_ptr<Backend> reference_backend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace mlopt
