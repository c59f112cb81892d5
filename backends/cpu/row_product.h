#pragma once
#include "backends/cpu/packed_product.h"

namespace mlopt::cpu {

/// c[columns] += a[depth] right, on the calling thread: what a ProductPlan of one row decides and looks up would take
/// as long as a small product itself.
void add_row_product(const float* a, const PackedMatrix& right, float* c);

}  // namespace mlopt::cpu
