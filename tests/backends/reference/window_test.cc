#include <cmath>
#include <numbers>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {

TEST_CASE("window functions follow their formulas") {
  const double third = 2 * std::numbers::pi / 3;
  const Tensor four = Tensor::scalar<int64_t>(4);
  const OpOptions symmetric{.attrs = {{"periodic", int64_t{0}, ""}, {"output_datatype", int64_t{11}, ""}}};
  const auto window = [&](double a, double b, double c) {
    const double middle = a - b * std::cos(third) + c * std::cos(2 * third), edge = a - b + c;
    return tensor({4}, {edge, middle, middle, edge}, DType::kF64);
  };
  require_close(run_op("HannWindow", {four}, symmetric), window(0.5, 0.5, 0), 1e-15);
  require_close(run_op("HammingWindow", {four}, symmetric), window(25.0 / 46, 21.0 / 46, 0), 1e-15);
  require_close(run_op("BlackmanWindow", {four}, symmetric), window(0.42, 0.5, 0.08), 1e-15);
  require_close(run_op("HannWindow", {four}), tensor({4}, {0, 0.5, 1, 0.5}));
  require_close(run_op("HannWindow", {Tensor::scalar<int32_t>(0)}), tensor({0}, {}));
  error_of("HannWindow", {Tensor::scalar<int64_t>(-1)});
  error_of("HannWindow", {four}, {.attrs = {{"output_datatype", int64_t{8}, ""}}});
}

TEST_CASE("MelWeightMatrix makes triangles of height 1") {
  const auto whole = [](int64_t v) { return Tensor::scalar<int64_t>(v); };
  const auto hertz = [](float v) { return Tensor::scalar<float>(v); };
  // Bins of 500 Hz; equal steps of mel from 0 to 2000 Hz end at 0, 218, 505, 881, 1373 Hz and so in bins 0, 0, 1, 1, 2.
  const Tensor want = tensor({9, 3}, {1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  require_close(run_op("MelWeightMatrix", {whole(3), whole(16), whole(8000), hertz(0), hertz(2000)}), want);
  // Finer bins show the slopes.
  std::vector<double> slopes(32, 0.0);
  const double peak[] = {0, 1.0 / 3, 2.0 / 3, 1, 0.8, 0.6, 0.4, 0.2};
  std::copy(std::begin(peak), std::end(peak), slopes.begin());
  require_close(run_op("MelWeightMatrix", {whole(1), whole(62), whole(8000), hertz(0), hertz(2000)}),
                tensor({32, 1}, slopes));
  error_of("MelWeightMatrix", {whole(3), whole(16), whole(8000), hertz(0), hertz(9000)});
  error_of("MelWeightMatrix", {whole(3), whole(16), whole(0), hertz(0), hertz(1000)});
  error_of("MelWeightMatrix", {whole(3), whole(int64_t{1} << 40), whole(8000), hertz(0), hertz(1000)});
}

}  // namespace mlopt::test
