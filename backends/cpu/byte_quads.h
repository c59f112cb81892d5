#pragma once
#include <cstdint>
#include <vector>

namespace mlopt::cpu {

/// The steps of a panel of packed weights, in the order in which a tile takes them.
struct QuadPanel {
  std::vector<int8_t> weights;  ///< [step][columns of the panel][4]
  std::vector<int32_t> order;   ///< for each step, the first of the four elements of the inner axis
  int64_t twos = 0;             ///< so many pairs of steps come first, whose products are summed in 16 bits
};

/// Orders the steps of a panel ([step][columns][4], step i for elements 4 i and on) so that sums of products with
/// uint8 are exact in 16 bits: where those of two neighbouring weights of one step could leave them, a second step
/// takes a half of both; and two steps are put together wherever the sum of both fits.
QuadPanel order_quads(std::vector<int8_t> weights, int64_t columns);

}  // namespace mlopt::cpu
