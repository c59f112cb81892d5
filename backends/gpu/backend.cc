#include "backends/gpu/backend.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "backends/gpu/device_plan.h"
#include "backends/gpu/half.h"
#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "backends/gpu/prepare.h"
#include "backends/gpu/staged.h"
#include "core/base/error.h"
#include "core/exec/interpreter.h"

namespace mlopt {
namespace {

/// Where the compiled kernels begin: Turing.
constexpr int kOldestMajor = 7, kOldestMinor = 5;

void require_device(const GpuInterface& api, int index) {
  int devices = 0;
  const char* failed = api.count(&devices);
  if (failed || devices == 0)
    unsupported_error(fmt::format("no GPU can be used ({})", failed ? failed : "there is none"), "libcuda.so.1",
                      "install NVIDIA's driver on a machine with a GPU, or use --device cpu");
  if (index >= devices)
    unsupported_error(fmt::format("there is no gpu:{}, only {}", index, devices), "--device",
                      "see mlopt devices for those of this machine");
  gpu::DeviceInfo info{};
  gpu::check(api.describe(index, &info), fmt::format("gpu:{}", index));
  if (std::pair(info.major, info.minor) < std::pair(kOldestMajor, kOldestMinor))
    unsupported_error(fmt::format("its compute capability is {}.{}, and 7.5 (Turing) is the oldest that runs",
                                  info.major, info.minor),
                      info.name, "use a newer GPU, or --device cpu");
}

/// $MLOPT_GPU_WITHOUT: libraries that are left alone, to see what they are worth.
bool is_left_alone(std::string_view library) {
  const char* without = std::getenv("MLOPT_GPU_WITHOUT");
  return without && fmt::format(",{},", without).find(fmt::format(",{},", library)) != std::string::npos;
}

gpu::Extras extras_of(gpu::Device device) {
  gpu::DeviceInfo info{};
  gpu::check(device.api->describe(device.index, &info), "the device");
  return {.convolver = device.api->conv_version() > 0 && !is_left_alone("cudnn"),
          .sparse = info.major >= 8 && device.api->sparse_version() > 0 && !is_left_alone("cusparselt")};
}

class GpuBackend : public Backend {
 public:
  GpuBackend(gpu::Device device, GpuHost host) : device_(device), host_(std::move(host)) {
    if (host_.autotune) tuning_ = std::make_shared<gpu::Tuning>(device_);
  }

  std::string_view name() const override { return "gpu"; }

  std::unique_ptr<Executable> compile(const Model& model, const CompileOptions& options) override {
    // What the host may run needs no stages: shapes come as they come then.
    const bool whole = host_.may_run || options.state || !options.taps.empty();
    const auto counted = whole ? std::nullopt : gpu::with_counts(model, host_.types);
    if (!counted) return compile_at_once(model, options);
    return gpu::compile_staged(*counted, host_.types, [self = *this, options](const Model& stage) {
      return self.compile_at_once(stage, options);
    });
  }

 private:
  std::unique_ptr<Executable> compile_at_once(const Model& model, const CompileOptions& options) const {
    const bool half = options.precision == Precision::kF16 || options.precision == Precision::kBF16;
    if (half) require_half(options);
    const std::vector<Kernel> kernels = gpu::all_kernels(extras_of(device_));
    std::array lists{KernelList{"gpu", kernels}, KernelList{"host", host_.kernels}};
    const auto store = std::make_shared<gpu::WeightStore>(device_);
    const auto state = options.state ? std::make_shared<gpu::DeviceState>(options.state, device_) : nullptr;
    const MakePlan make_plan = [device = device_, store, state, on_host = host_.may_run, tuning = tuning_](
                                   Plan::Parts parts, const CompileOptions& asked) {
      gpu::DevicePlan::Options how{on_host, {asked.taps.begin(), asked.taps.end()}, tuning, state};
      return std::make_unique<const gpu::DevicePlan>(std::move(parts), device, std::make_shared<gpu::Weights>(store),
                                                     std::move(how));
    };
    // Values that are watched must stay what they are.
    if (!options.taps.empty()) return compile_interpreter(model, options, lists, host_.types, nullptr, make_plan);
    Model prepared = clone(model);
    gpu::prepare(prepared, multiplies_float8());
    if (is_channels_last(prepared, options)) lists[0].reorder = gpu::plan_reorder;
    if (!half) return compile_interpreter(prepared, options, lists, host_.types, gpu::specialize, make_plan);
    const auto precision = std::make_shared<gpu::HalfPrecision>(
        prepared, options.precision == Precision::kF16 ? DType::kF16 : DType::kBF16);
    const auto specialize = [precision](Model& bound, TypeRule types) {
      gpu::specialize(bound, types);
      precision->apply(bound);
    };
    return compile_interpreter(prepared, options, lists, host_.types, specialize, make_plan);
  }

  /// Ada's and later tensor cores do.
  bool multiplies_float8() const {
    gpu::DeviceInfo info{};
    gpu::check(device_.api->describe(device_.index, &info), "the device");
    return std::pair(info.major, info.minor) >= std::pair(8, 9);
  }

  /// Where cuDNN runs convolutions of half floats, plans keep channels last what is best so. Values that belong to the
  /// state are row-major.
  bool is_channels_last(const Model& model, const CompileOptions& options) const {
    if (!extras_of(device_).convolver || options.state) return false;
    if (options.precision == Precision::kF16 || options.precision == Precision::kBF16) return true;
    const auto nodes = model.graph->nodes();
    return std::any_of(nodes.begin(), nodes.end(), [](const Node* node) {
      const Value* x = node->op == "Conv" || node->op == "FusedConv" ? node->input(0) : nullptr;
      return x && (x->type.dtype == DType::kF16 || x->type.dtype == DType::kBF16);
    });
  }

  void require_half(const CompileOptions& options) const {
    gpu::DeviceInfo info{};
    gpu::check(device_.api->describe(device_.index, &info), "the device");
    if (options.precision == Precision::kBF16 && info.major < 8)
      unsupported_error("its compute capability is below 8.0 (Ampere), which bfloat16 needs", info.name,
                        "use --precision fp16");
    if (!options.taps.empty())
      unsupported_error("values inside of a model are watched in float32 only", "--precision", "leave it out");
  }

  gpu::Device device_;
  GpuHost host_;
  std::shared_ptr<gpu::Tuning> tuning_;
};

}  // namespace

std::unique_ptr<Backend> gpu_backend(const GpuInterface& api, int device, GpuHost host) {
  require_device(api, device);
  return std::make_unique<GpuBackend>(gpu::Device{&api, device}, std::move(host));
}

}  // namespace mlopt
