#pragma once
#include <cstdint>
#include <vector>

#include "quantize/methods.h"

namespace mlopt::quantize {

/// Vectors of neighbours in a row, each in steps of its row's scale, and how much the squared error of each number
/// counts.
struct Vectors {
  int64_t width = 2;                    ///< numbers of a vector
  std::vector<float> numbers, weights;  ///< [count, width]

  int64_t count() const { return static_cast<int64_t>(numbers.size()) / width; }
};

/// At most `size` vectors, [size, width], so that the weighted squared distances from each of the given to the nearest
/// are small: Lloyd's steps from k-means++ (Arthur and Vassilvitskii 2007). The same for the same input.
std::vector<float> learn_book(const Vectors& vectors, int64_t size);

/// For each vector the index of the entry that is nearest by its weights; of several the first.
std::vector<uint8_t> nearest_entries(const Vectors& vectors, const std::vector<float>& book);

/// A weight in codes of Levels::kVectors: one book for all rows, each with a scale of its own, the root of its mean
/// square (product quantization, as Stock et al. 2020, "And the Bit Goes Down", have it for networks). Numbers count by
/// what they are multiplied by where that was seen.
Coded encode_vectors(const Task& task);

}  // namespace mlopt::quantize
