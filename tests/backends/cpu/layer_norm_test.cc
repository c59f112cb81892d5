#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/cpu.h"

namespace mlopt::test {
namespace {

// Sums of up to 800 numbers in another order, divided by deviations near 1.
constexpr double kTolerance = 1e-5;

Dims from(const Dims& dims, int64_t axis) { return Dims(dims.begin() + axis, dims.end()); }

}  // namespace

TEST_CASE("LayerNormalization and RMSNormalization from any axis on give what the reference gives") {
  for (const char* op : {"LayerNormalization", "RMSNormalization"})
    for (const Dims& dims : {Dims{5, 7}, Dims{2, 3, 768}, Dims{1, 1}, Dims{4, 3, 9, 2}, Dims{17}})
      for (int64_t axis = 0; axis < static_cast<int64_t>(dims.size()); ++axis) {
        INFO(op << " of " << to_string(dims) << " from " << axis);
        const Dims row = from(dims, axis);
        const std::vector<Attr> attrs{{"axis", axis, ""}, {"epsilon", 1e-3f, ""}};
        std::vector<Datum> inputs{uniform(dims, -2, 5, DType::kF32, 1), uniform(row, -1, 1, DType::kF32, 2)};
        require_as_reference(op, inputs, {.attrs = attrs}, kTolerance);
        if (std::string(op) == "RMSNormalization") continue;
        inputs.push_back(uniform(row, -1, 1, DType::kF32, 3));
        require_as_reference(op, inputs, {.attrs = attrs}, kTolerance);
      }
}

TEST_CASE("a row far from zero keeps its deviations") {
  const Tensor x = uniform({3, 100}, 1000, 1001), ones = tensor({100}, std::vector<double>(100, 1));
  // Numbers near 1000 are stored to 6e-5, and deviate by 0.3.
  require_as_reference("LayerNormalization", {x, ones}, {}, 5e-4);
}

TEST_CASE("rows with NaN or infinities give what the reference gives") {
  Tensor x = uniform({4, 10}, -1, 1);
  x.mutable_data<float>()[3] = std::nanf("");
  x.mutable_data<float>()[17] = INFINITY;
  const Tensor ones = tensor({10}, std::vector<double>(10, 1));
  for (const char* op : {"LayerNormalization", "RMSNormalization"}) require_as_reference(op, {x, ones}, {}, kTolerance);
}

TEST_CASE("the skipped input is added first, also where it repeats") {
  for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    for (const Dims& skip : {Dims{2, 3, 24}, Dims{1, 3, 24}, Dims{3, 24}}) {
      INFO(op << " " << to_string(skip));
      std::vector<Datum> inputs{uniform({2, 3, 24}, -1, 1, DType::kF32, 1), uniform(skip, -1, 1, DType::kF32, 2),
                                uniform({24}, -1, 1, DType::kF32, 3)};
      const OpOptions options{.domain = "com.microsoft"};
      require_as_reference(op, inputs, options, kTolerance);
      inputs.push_back(uniform({24}, -1, 1, DType::kF32, 4));
      require_as_reference(op, inputs, options, kTolerance);
    }
}

TEST_CASE("a skipped input whose rows repeat one by one is the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const std::vector<Datum> inputs{uniform({2, 3, 24}, -1, 1, DType::kF32, 1),
                                  uniform({2, 1, 24}, -1, 1, DType::kF32, 2), uniform({24}, -1, 1, DType::kF32, 3)};
  for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"})
    require_close(run_op(op, inputs, {.domain = "com.microsoft", .backend = cpu.get()}),
                  run_op(op, inputs, {.domain = "com.microsoft"}), kTolerance);
}

TEST_CASE("mean and deviation as outputs are the next kernel's") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  const std::vector<Datum> inputs{uniform({3, 8}, -1, 1), uniform({8}, -1, 1)};
  const auto got = run_node("LayerNormalization", inputs, {.outputs = 3, .backend = cpu.get()});
  const auto expected = run_node("LayerNormalization", inputs, {.outputs = 3});
  for (size_t i = 0; i < 3; ++i) require_close(got[i].tensor(), expected[i].tensor(), kTolerance);
}

TEST_CASE("a factor for each row, of as many as a row has numbers, is not for this kernel") {
  const std::unique_ptr<Backend> cpu = cpu_with_fallback();
  for (const auto& [x, scale] : {std::pair{Dims{3, 3}, Dims{3, 1}}, {Dims{2, 4, 4}, Dims{1, 4, 1}}})
    for (const char* op : {"LayerNormalization", "RMSNormalization"}) {
      const std::vector<Datum> inputs{uniform(x, -1, 2), uniform(scale, 0.5, 2)};
      const auto got = run_node(op, inputs, {.backend = cpu.get()});
      require_close(got[0].tensor(), run_node(op, inputs)[0].tensor(), 1e-5);
    }
}

}  // namespace mlopt::test
