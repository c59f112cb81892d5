#pragma once
#include <cstdint>

namespace mlopt::train {

/// Bytes that one of `ranks` sends, on average, for an operation on `bytes` bytes a rank. They do not depend on whether
/// a tree or a ring is gone along, see docs/distributed.md.
/// All-reduce: reduced and handed back, 2 (K - 1) / K of the bytes.
int64_t all_reduce_bytes(int ranks, int64_t bytes);
/// All-gather: each part goes to all others, (K - 1) times the bytes.
int64_t all_gather_bytes(int ranks, int64_t bytes);
/// Broadcast: (K - 1) / K of the bytes.
int64_t broadcast_bytes(int ranks, int64_t bytes);

}  // namespace mlopt::train
