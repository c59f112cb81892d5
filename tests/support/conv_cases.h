#pragma once
#include <cstdint>
#include <vector>

#include "core/ir/attr.h"
#include "core/tensor/tensor.h"

namespace mlopt::test {

/// A convolution of an image by weights [M, C / group, k...].
struct ConvCase {
  Dims x, w;
  std::vector<int64_t> strides, dilations, pads;
  int64_t group = 1;

  std::vector<Attr> attrs() const {
    return {{"strides", strides, ""}, {"dilations", dilations, ""}, {"pads", pads, ""}, {"group", group, ""}};
  }
};

/// For tiles of 8 bits: odd sizes, groups, channel by channel, dilations, one to three axes.
inline const ConvCase kByteConvCases[] = {
    {{1, 3, 9, 7}, {5, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
    {{2, 16, 11, 5}, {9, 16, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
    {{1, 8, 12, 13}, {24, 8, 1, 1}, {2, 3}, {1, 1}, {0, 0, 0, 0}},
    {{2, 6, 10, 9}, {6, 1, 3, 3}, {2, 2}, {1, 1}, {0, 1, 1, 0}, 6},
    {{1, 32, 10, 9}, {32, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 32},
    {{1, 7, 14, 13}, {7, 1, 5, 5}, {2, 1}, {2, 2}, {3, 4, 4, 3}, 7},
    {{2, 16, 40}, {16, 1, 9}, {1}, {1}, {8, 0}, 16},
    {{1, 8, 5, 6, 7}, {8, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 8},
    {{1, 12, 8, 8}, {8, 3, 3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, 4},
    {{3, 4, 17}, {6, 4, 3}, {2}, {1}, {1, 0}},
    {{1, 24, 31, 1}, {20, 24, 9, 1}, {2, 1}, {1, 1}, {4, 0, 3, 0}},
    {{1, 64, 6, 6}, {33, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
};

}  // namespace mlopt::test
