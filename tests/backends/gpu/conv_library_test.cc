#include "backends/gpu/conv_library.h"

#include "backends/gpu/backend.h"
#include "backends/gpu/interface.h"
#include "backends/reference/kernels.h"
#include "tests/cudnn/fake_cudnn.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/fake_library.h"
#include "tests/support/gpu.h"
#include "tests/support/one_node.h"
#include "tests/support/temp_dir.h"
#include "tests/support/weight_gradient.h"

namespace mlopt::test {
namespace {

using Ints = std::vector<int64_t>;

struct Present : FakeLibrary<FakeCudnn> {
  Present() : FakeLibrary("mlopt_fake_cudnn", "fake_cudnn") {}
};

Tensor ran(const std::string& op, const std::vector<Datum>& inputs, const OpOptions& options, Backend& backend,
           Precision precision = Precision::kF32) {
  CompileOptions how;
  how.precision = precision;
  const auto plan = backend.compile(one_node(op, inputs, options, inputs.size()), how);
  std::vector<Datum> given;
  for (const Datum& input : inputs)
    if (!input.is_none()) given.push_back(input);
  for (int time = 0; time < 2; ++time) plan->run(given);
  return plan->run(given)[0].tensor();
}

/// Three runs, all of which the library has a part in.
void require_by_library(const Present& fake, const std::string& op, const std::vector<Datum>& inputs, OpOptions options,
                        double tolerance = 1e-5) {
  fake->plain = fake->fused = 0;
  require_close(ran(op, inputs, options, *gpu_on_host()), run_op(op, inputs, options), tolerance);
  CHECK(fake->plain + fake->fused == 3);
}

constexpr const char* kPacked = "these tests were packed without libmlopt_fake_cudnn.so";

/// A convolution with --autotune by two processes, one after the other.
void run_tuned_twice() {
  const TempDir folder;
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string old = before ? before : "";
  ::setenv("XDG_CACHE_HOME", std::string(folder.path()).c_str(), 1);
  const Tensor x = uniform({2, 8, 7, 7}, -1, 1), w = uniform({24, 8, 3, 3}, -1, 1), b = uniform({24}, -1, 1);
  const Tensor expected = run_op("Conv", {x, w, b}, {});
  GpuHost host{.kernels = reference::all_kernels(), .autotune = true};
  for (int process = 0; process < 2; ++process)
    require_close(ran("Conv", {x, w, b}, {}, *gpu_backend(gpu::gpu_interface(), 0, host)), expected, 1e-5);
  before ? ::setenv("XDG_CACHE_HOME", old.c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
}

}  // namespace

TEST_CASE("convolutions by a library that stands for cuDNN") {
  const Present fake;
  if (!fake) return skip(kPacked);
  CHECK(gpu::gpu_interface().conv_version() == 91900);
  struct Case {
    Dims x, w;
    std::vector<Attr> attrs;
  };
  const Case cases[] = {
      {{2, 3, 9, 11}, {20, 3, 3, 3}, {attr("pads", Ints{1, 1, 1, 1})}},
      {{1, 16, 7, 7}, {7, 16, 1, 1}, {attr("strides", Ints{2, 2})}},
      {{2, 8, 6, 6}, {6, 4, 3, 3}, {attr("group", 2), attr("dilations", Ints{2, 1})}},
      {{2, 6, 30}, {18, 6, 5}, {attr("strides", Ints{3})}},
      {{1, 3, 5, 6, 7}, {17, 3, 2, 3, 3}, {attr("auto_pad", "VALID")}},
      {{2, 3, 1, 6, 6}, {5, 3, 1, 3, 3}, {attr("pads", Ints{1, 1, 1, 1, 1, 1})}},
      // As many windows fit where the padding behind is not what it is before.
      {{1, 3, 8, 8}, {5, 3, 3, 3}, {attr("strides", Ints{2, 2}), attr("pads", Ints{1, 1, 0, 0})}},
  };
  for (const Case& c : cases) {
    INFO(to_string(c.x) << " by " << to_string(c.w));
    const Tensor x = uniform(c.x, -1, 1), w = uniform(c.w, -1, 1, DType::kF32, 2),
                 b = uniform({c.w[0]}, -1, 1, DType::kF32, 3);
    require_by_library(fake, "Conv", {x, w, b}, {.attrs = c.attrs});
    CHECK(fake->fused == 3);
    require_by_library(fake, "Conv", {x, w}, {.attrs = c.attrs});
    CHECK(fake->plain == 3);
  }
  CHECK(fake->exact > 0);
  for (const auto& [type, tolerance] : {std::pair(DType::kF16, 1e-2), std::pair(DType::kBF16, 8e-2)})
    require_by_library(
        fake, "Conv",
        {uniform({1, 16, 6, 6}, -1, 1, type), uniform({16, 16, 3, 3}, -1, 1, type), uniform({16}, -1, 1, type)}, {},
        tolerance);
}

TEST_CASE("what such a library fuses, and what follows it") {
  const Present fake;
  if (!fake) return skip(kPacked);
  const Tensor x = uniform({2, 8, 6, 6}, -1, 1), w = uniform({24, 8, 3, 3}, -1, 1), b = uniform({24}, -1, 1),
               z = uniform({2, 24, 4, 4}, -1, 1);
  for (const bool sum : {false, true})
    for (const char* act : {"Relu", "Sigmoid", ""}) {
      INFO(act << (sum ? " of a sum" : ""));
      OpOptions options{.attrs = {}, .domain = "com.microsoft"};
      if (*act) options.attrs.push_back(attr("activation", act));
      require_by_library(fake, "FusedConv", sum ? std::vector<Datum>{x, w, b, z} : std::vector<Datum>{x, w, b},
                         options);
      CHECK(fake->fused == (act[0] == 'S' ? 0 : 3));
    }
}

TEST_CASE("what such a library declines, our own kernels do") {
  const Present fake;
  if (!fake) return skip(kPacked);
  const Tensor x = uniform({2, 8, 7, 7}, -1, 1), w = uniform({24, 8, 3, 3}, -1, 1);
  fake->refused_dilation = 2;
  const OpOptions cases[] = {{.attrs = {attr("dilations", Ints{2, 2})}}, {.attrs = {attr("pads", Ints{0, 0, 1, 1})}}};
  for (const OpOptions& options : cases)
    require_close(ran("Conv", {x, w}, options, *gpu_on_host()), run_op("Conv", {x, w}, options), 1e-5);
  const Tensor each = uniform({8, 1, 3, 3}, -1, 1);
  const OpOptions depthwise{.attrs = {attr("group", 8)}};
  require_close(ran("Conv", {x, each}, depthwise, *gpu_on_host()), run_op("Conv", {x, each}, depthwise), 1e-5);
  CHECK(fake->plain + fake->fused == 0);
  ::setenv("MLOPT_GPU_WITHOUT", "other,cudnn", 1);
  ran("Conv", {x, w}, {}, *gpu_on_host());
  CHECK(fake->plain + fake->fused == 0);
  ::unsetenv("MLOPT_GPU_WITHOUT");
  fake->exact = 0;
  ran("Conv", {x, w}, {}, *gpu_on_host());
  CHECK(fake->plain == 3);
  ran("Conv", {x, w}, {}, *gpu_on_host(), Precision::kTF32);
  CHECK(fake->exact == 1);
}

TEST_CASE("such a library's algorithms are timed once") {
  const Present fake;
  if (!fake) return skip(kPacked);
  run_tuned_twice();
  CHECK(fake->timed == 1);
  CHECK(fake->proposed == 1);
  CHECK(fake->plain == 6);  // what was the fastest fuses no bias without ReLU
}

TEST_CASE("algorithms that cannot be timed run as such a library proposes them, and are timed again later") {
  const Present fake;
  if (!fake) return skip(kPacked);
  fake->refuses_timing = true;
  run_tuned_twice();
  CHECK(fake->timed == 2);
  CHECK(fake->proposed == 2);
  CHECK(fake->plain + fake->fused == 6);
}

TEST_CASE("gradients of convolutions by such a library, by algorithms that give the same bytes every time") {
  const Present fake;
  if (!fake) return skip(kPacked);
  const WeightGradient all[] = {
      {{2, 3, 9, 9}, {8, 3, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}},
      {{2, 12, 9, 9}, {48, 6, 3, 3}, {2, 1}, {1, 1, 1, 1}, {1, 2}, 2},
      {{4, 6, 30}, {10, 6, 5}, {2}, {2, 2}, {1}},
      {{1, 4, 5, 6, 7}, {6, 4, 3, 3, 3}, {1, 2, 1}, {1, 1, 1, 1, 1, 1}, {1, 1, 1}},
  };
  for (const WeightGradient& g : all) {
    INFO(to_string(g.x) << " by " << to_string(g.weights));
    fake->weight_gradients = 0;
    const std::vector<Datum> inputs{uniform(g.x, -1, 1), uniform(g.places(), -1, 1, DType::kF32, 2)};
    require_close(ran("ConvGradWeight", inputs, g.options(), *gpu_on_host()),
                  run_op("ConvGradWeight", inputs, g.options()), 2e-5);
    CHECK(fake->weight_gradients == 3);
  }
  const std::vector<Attr> transposed[] = {
      {},
      {attr("group", 2), attr("strides", Ints{2, 3}), attr("pads", Ints{1, 0, 1, 0}), attr("dilations", Ints{1, 2})}};
  for (const auto& attrs : transposed) {
    fake->input_gradients = 0;
    const std::vector<Datum> inputs{uniform({2, 6, 5, 4}, -1, 1), uniform({6, 4, 3, 2}, -1, 1),
                                    uniform({attrs.empty() ? 4 : 8}, -1, 1)};
    require_close(ran("ConvTranspose", inputs, {.attrs = attrs}, *gpu_on_host()),
                  run_op("ConvTranspose", inputs, {.attrs = attrs}), 1e-5);
    CHECK(fake->input_gradients == 3);
  }
}

}  // namespace mlopt::test
