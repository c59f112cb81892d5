#include "core/train/cost_model.h"

namespace mlopt::train {

int64_t all_reduce_bytes(int ranks, int64_t bytes) { return 2 * broadcast_bytes(ranks, bytes); }
int64_t all_gather_bytes(int ranks, int64_t bytes) { return (ranks - 1) * bytes; }
int64_t broadcast_bytes(int ranks, int64_t bytes) { return bytes * (ranks - 1) / ranks; }

}  // namespace mlopt::train
