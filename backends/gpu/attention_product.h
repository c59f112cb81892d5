#pragma once
#include <optional>

#include "backends/gpu/operand.h"

namespace mlopt::gpu {

/// How attention runs by the library's products, some heads at once.
struct AttentionProducts {
  int64_t heads;                         ///< at once, of all samples'
  size_t scores, weights, q, k, v, out;  ///< where these lie in the scratch; the last four where they are copied
  bool copies_q, copies_k, copies_v, copies_out;
  Walk<2> q_walk, k_walk, v_walk, out_walk;  ///< of the copies
  size_t bytes;                              ///< of the scratch
};

/// By products, which run on tensor cores, and scores stored in float32 between them: in half precision, or where
/// float32 may be rounded (`tf32`), for 32 queries and keys at least, whose scores of a head take no more than 64 MB.
/// Not where heads share keys, or samples have lengths of their own.
std::optional<AttentionProducts> attention_products(const AttentionArgs& args, bool tf32);

/// Runs it; `args` has its pointers, `scratch` bytes.
void run_products(const Buffers& b, const AttentionArgs& args, const AttentionProducts& how, bool tf32,
                  std::byte* scratch);

}  // namespace mlopt::gpu
