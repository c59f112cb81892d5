#include "backends/cpu/backend.h"

#include <array>
#include <utility>

#include "backends/cpu/dnn.h"
#include "backends/cpu/kernels.h"
#include "backends/cpu/prepare/prepare.h"
#include "backends/cpu/primitive.h"
#include "core/base/error.h"
#include "core/exec/interpreter.h"

namespace mlopt {
namespace {

void require_precision(Precision precision) {
  if (precision == Precision::kF32) return;
  if (precision != Precision::kBF16)
    unsupported_error("the CPU computes float32 operators in fp32 or bf16 only", "--precision",
                      "use fp32 or bf16, or a GPU");
  if (!cpu::has_bf16())
    unsupported_error("this processor has no arithmetic on bf16 (AVX-512 or AMX)", "--precision bf16",
                      "use --precision fp32, or a processor that has it");
}

class CpuBackend : public Backend {
 public:
  CpuBackend(std::vector<Kernel> fallback, TypeRule types) : fallback_(std::move(fallback)), types_(types) {}

  std::string_view name() const override { return "cpu"; }

  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) override {
    require_precision(options.precision);
    const std::vector<Kernel> kernels = cpu::all_kernels();
    const auto lists = lists_of(kernels, fallback_);
    if (!options.taps.empty()) {  // values that are watched must stay what they are
      if (!options.taps_unordered) return compile_interpreter(model, options, lists);
      const auto specialize = [fallback = fallback_, precision = options.precision](Model& bound, TypeRule types) {
        prepare(bound, fallback, precision);
        infer(bound, types);
        cpu::specialize(bound, types);
      };
      return compile_interpreter(model, options, lists, types_, specialize);
    }
    Model prepared = clone(model);
    prepare(prepared, fallback_, options.precision);
    return compile_interpreter(prepared, options, lists, types_, cpu::specialize);
  }

 private:
  static std::array<KernelList, 2> lists_of(const std::vector<Kernel>& kernels, const std::vector<Kernel>& fallback) {
    return {KernelList{"cpu", kernels, cpu::plan_reorder}, KernelList{"reference", fallback}};
  }

  static void prepare(Model& model, const std::vector<Kernel>& fallback, Precision precision) {
    const std::vector<Kernel> kernels = cpu::all_kernels();
    const auto evaluate = [&](const Model& constants) {
      return compile_interpreter(constants, {}, lists_of(kernels, fallback))->run({});
    };
    cpu::prepare(model, evaluate, precision);
  }

  std::vector<Kernel> fallback_;
  TypeRule types_;
};

}  // namespace

std::unique_ptr<Backend> cpu_backend(std::vector<Kernel> fallback, TypeRule types) {
  if (dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::isa_default)  // the library does not ask, and would be killed
    unsupported_error("this processor lacks SSE4.1, which oneDNN needs", {}, "use --device reference");
  return std::make_unique<CpuBackend>(std::move(fallback), types);
}

}  // namespace mlopt
