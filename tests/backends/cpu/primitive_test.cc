#include "backends/cpu/primitive.h"

#include <numeric>

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt::cpu {

TEST_CASE("a copy between layouts moves every element to its place") {
  const TensorDesc rows{DType::kF32, {2, 3, 4, 5}};
  const CompileContext context;
  const PlannedStep step = plan_reorder(rows, rows.in(mlopt::Layout::kChannelsLast), context);
  std::vector<float> x(120), y(120);
  std::iota(x.begin(), x.end(), 0.0f);
  std::vector<std::byte> scratch(step.scratch_bytes + 64);
  std::byte* const where[] = {reinterpret_cast<std::byte*>(x.data()), reinterpret_cast<std::byte*>(y.data())};
  const int in[] = {0}, out[] = {1};
  std::any memo;
  for (int run = 0; run < 2; ++run) step.run(Buffers(where, in, out, scratch.data(), memo));
  const Dims from = rows.strides(), to = step.out[0].strides();
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      for (int64_t h = 0; h < 4; ++h)
        for (int64_t w = 0; w < 5; ++w)
          REQUIRE(y[static_cast<size_t>(n * to[0] + c * to[1] + h * to[2] + w * to[3])] ==
                  x[static_cast<size_t>(n * from[0] + c * from[1] + h * from[2] + w * from[3])]);
}

TEST_CASE("oneDNN's failures are declines or errors of ours") {
  Graph graph;
  const Node* node = graph.add_op("Conv", {}, {}, nullptr, "y");
  CHECK(declined(dnnl::error(dnnl_unimplemented, "x"), *node).reason == "oneDNN has no primitive for it");
  CHECK(test::thrown_by([&] { declined(dnnl::error(dnnl_out_of_memory, "x"), *node); }).code == Code::kUnsupported);
  CHECK(test::thrown_by([&] { declined(dnnl::error(dnnl_runtime_error, "why"), *node); }).code == Code::kInternal);
}

}  // namespace mlopt::cpu
