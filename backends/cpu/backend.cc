#include "backends/cpu/backend.h"

#include <array>
#include <utility>

#include "backends/cpu/kernels.h"
#include "backends/cpu/prepare/prepare.h"
#include "core/exec/interpreter.h"

namespace mlopt {
namespace {

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(std::vector<Kernel> fallback) : fallback_(std::move(fallback)) {}

  std::string_view name() const override { return "cpu"; }

  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) override {
    const std::vector<Kernel> kernels = cpu::all_kernels();
    const std::array lists{KernelList{"cpu", kernels}, KernelList{"reference", fallback_}};
    // Values that are watched or change between runs must stay what they are.
    if (!options.taps.empty() || !options.state.empty() || options.weights_mutable)
      return compile_interpreter(model, options, lists);
    Model prepared = clone(model);
    cpu::prepare(prepared, [&](const Model& constants) { return compile_interpreter(constants, {}, lists)->run({}); });
    return compile_interpreter(prepared, options, lists);
  }

 private:
  std::vector<Kernel> fallback_;
};

}  // namespace

std::unique_ptr<Backend> cpu_backend(std::vector<Kernel> fallback) {
  return std::make_unique<CpuBackend>(std::move(fallback));
}

}  // namespace mlopt
