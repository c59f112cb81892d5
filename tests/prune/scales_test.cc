#include "prune/scales.h"

#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("scores become shares of an output, or of a layer") {
  Matrix rows{2, 2, {3, 4, 0, 0}};
  prune::scale_channels(rows);
  CHECK(rows.values == std::vector<float>{0.6F, 0.8F, 0, 0});
  Matrix layer{2, 2, {1, 1, 1, 1}};
  prune::scale_layer(layer);
  CHECK(layer.values == std::vector<float>{0.5F, 0.5F, 0.5F, 0.5F});
}

TEST_CASE("what multiplies a whole output changes no score that is a share of it") {
  Matrix plain{2, 3, {1, -2, 3, 4, 5, 6}}, scaled{2, 3, {10, -20, 30, 0.5, 0.625, 0.75}};
  prune::scale_channels(plain);
  prune::scale_channels(scaled);
  for (size_t i = 0; i < 6; ++i) CHECK(scaled.values[i] == Approx(plain.values[i]).epsilon(1e-6));
}
