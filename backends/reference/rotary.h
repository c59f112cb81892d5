#pragma once
#include <cstdint>
#include <functional>

#include "backends/reference/attend.h"
#include "core/exec/kernel.h"

namespace mlopt::reference {

/// How rotary embedding turns pairs of a row: element i with i + turned / 2, or neighbours when interleaved.
struct Rotation {
  int64_t batch, heads, rows, size;
  int64_t turned;  ///< the first elements of a row that are turned, an even number; the rest is copied
  bool interleaved;
};

/// y = x turned; row r of sample b uses the turned / 2 cosines and sines from place(b, r) * turned / 2 on.
template <class T>
void rotate(const Rotation& n, Heads<const T> x, Heads<T> y, const T* cosines, const T* sines,
            const std::function<int64_t(int64_t b, int64_t r)>& place);

extern template void rotate<float>(const Rotation&, Heads<const float>, Heads<float>, const float*, const float*,
                                   const std::function<int64_t(int64_t, int64_t)>&);
extern template void rotate<double>(const Rotation&, Heads<const double>, Heads<double>, const double*, const double*,
                                    const std::function<int64_t(int64_t, int64_t)>&);

}  // namespace mlopt::reference
