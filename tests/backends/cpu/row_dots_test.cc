#include "backends/cpu/row_dots.h"

#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

/// Of `rows`, which lie in rows that are three elements longer.
cpu::RowsView view(const Tensor& rows, int64_t width) { return {rows.data<float>(), rows.dim(1), rows.dim(0), width}; }

}  // namespace

TEST_CASE("a row is multiplied by rows that lie apart") {
  for (const int64_t width : {1, 4, 15, 16, 20, 64, 100})
    for (const int64_t count : {1, 3, 8, 9, 21}) {
      INFO(count << " x " << width);
      const Tensor x = uniform({width}, -1, 1, DType::kF32, 1);
      const Tensor rows = uniform({count, width + 3}, -1, 1, DType::kF32, 2);
      std::vector<float> out(static_cast<size_t>(count) + 1, 7);
      cpu::dot_rows(x.data<float>(), view(rows, width), 0.5f, out.data());
      for (int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (int64_t j = 0; j < width; ++j)
          sum += static_cast<double>(x.data<float>()[j]) * rows.data<float>()[i * (width + 3) + j];
        CHECK(out[static_cast<size_t>(i)] == Approx(0.5 * sum).margin(1e-5));
      }
      CHECK(out.back() == 7);
    }
}

TEST_CASE("weighted rows are added up") {
  for (const int64_t width : {1, 4, 15, 16, 20, 64, 100})
    for (const int64_t count : {0, 1, 3, 8, 9, 21}) {
      INFO(count << " x " << width);
      const Tensor weights = uniform({count + 1}, -1, 1, DType::kF32, 1);
      const Tensor rows = uniform({count, width + 3}, -1, 1, DType::kF32, 2);
      std::vector<float> out(static_cast<size_t>(width) + 1, 7);
      cpu::add_weighted_rows(weights.data<float>(), view(rows, width), out.data());
      for (int64_t j = 0; j < width; ++j) {
        double sum = 7;
        for (int64_t i = 0; i < count; ++i)
          sum += static_cast<double>(weights.data<float>()[i]) * rows.data<float>()[i * (width + 3) + j];
        CHECK(out[static_cast<size_t>(j)] == Approx(sum).margin(1e-5));
      }
      CHECK(out.back() == 7);
    }
}

}  // namespace mlopt::test
