#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

TEST_CASE("QEmbedLayerNormalization gives what ONNX Runtime gives", "[reference]") {
  // Numbers of ONNX Runtime 1.31 for these.
  const auto codes = [](const Dims& dims, const std::vector<uint8_t>& values) {
    return Tensor::of<uint8_t>(dims, values);
  };
  const Tensor ids = Tensor::of<int32_t>({2, 3}, {1, 4, 0, 2, 2, 3}),
               segments = Tensor::of<int32_t>({2, 3}, {0, 1, 1, 0, 0, 1}),
               mask = Tensor::of<int32_t>({2, 3}, {1, 1, 0, 1, 1, 1});
  const Tensor words = codes({5, 4},
                             {207, 21, 45, 60, 46, 205, 222, 149, 10, 24, 85, 110, 159, 122, 67, 40, 177, 188, 8, 29}),
               places = codes({3, 4}, {115, 100, 227, 132, 107, 110, 170, 150, 44, 188, 193, 244}),
               tables = codes({2, 4}, {201, 72, 81, 166, 166, 178, 222, 74}), gamma = codes({4}, {240, 0, 19, 249}),
               beta = codes({4}, {241, 76, 35, 80});
  std::vector<Datum> inputs = {ids, segments, words, places, tables, gamma, beta, mask};
  for (const float scale : {0.02f, 0.01f, 0.015f, 0.008f, 0.005f}) inputs.emplace_back(Tensor::scalar(scale));
  for (const int zero : {120, 130, 128, 10, 100}) inputs.emplace_back(Tensor::scalar(static_cast<uint8_t>(zero)));
  const Tensor y = Tensor::of<float>(
      {2, 3, 4}, {-1.821081f, -0.095464f, -0.224751f, 0.449187f,  2.145021f, -0.202589f, -0.348522f, -2.945601f,
                  3.319253f,  -0.054532f, -0.292564f, -2.113203f, 0.46734f,  0.00337f,   -0.288083f, 2.11515f,
                  0.481156f,  -0.006562f, -0.314805f, 2.57303f,   0.882761f, -0.197485f, -0.283087f, -3.249655f});
  // Six places behind the point are given.
  check_cases({{"QEmbedLayerNormalization",
                inputs,
                {{attr("epsilon", 1e-5f)}, 1, "com.microsoft", 2},
                {y, Tensor::of<int32_t>({2}, {2, 3})},
                2e-6}});
}

}  // namespace
}  // namespace mlopt::test
