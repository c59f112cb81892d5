// RotaryEmbedding of both domains.
#include <algorithm>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"

namespace mlopt::gpu {
namespace {

/// Where the two domains have their operands.
struct Operands {
  int cosines, sines, positions;
};

Expected<RotaryArgs> args_of(const Site& site, const Operands& where) {
  const TensorDesc &x = site.desc(0), &cosines = site.desc(where.cosines);
  const auto type = float_of(x.dtype);
  if (!type) return type.error();
  if (site.view.get_int("is_packed_batching", 0) != 0) return Decline{"batches are packed"};
  if (cosines.dtype != x.dtype || site.desc(where.sines) != cosines || cosines.dims.size() < 2)
    return Decline{"tables that do not fit"};
  const size_t rank = x.dims.size();
  if ((rank != 3 && rank != 4) || !is_countable(x) || x.size() == 0) return Decline{"neither 3 nor 4 axes"};
  RotaryArgs args{};
  args.type = *type;
  args.packed = rank == 3;
  args.interleaved = site.view.get_int("interleaved", 0) != 0;
  args.half = cosines.dims.back();
  args.table = cosines.size() / std::max<int64_t>(1, args.half);
  args.shared = cosines.dims.size() == 3 && cosines.dims[0] == 1;
  args.batch = x.dims[0];
  args.rows = x.dims[rank == 4 ? 2 : 1];
  args.heads = rank == 4 ? x.dims[1] : site.view.get_int("num_heads", 0);
  if (args.heads == 0 && args.half > 0) args.heads = x.dims[2] / (2 * args.half);
  if (args.heads < 1 || (rank == 3 && x.dims[2] % args.heads != 0)) return Decline{"the heads do not fit"};
  args.size = rank == 4 ? x.dims[3] : x.dims[2] / args.heads;
  const int64_t turned = site.view.get_int("rotary_embedding_dim", 0);
  if ((turned != 0 && turned != 2 * args.half) || 2 * args.half > args.size) return Decline{"tables that do not fit"};
  const int64_t count = args.batch * args.rows;
  if (!site.has(where.positions)) {
    if (args.table < (args.shared ? args.rows : count)) return Decline{"tables that do not fit"};
    return args;
  }
  const TensorDesc& positions = site.desc(where.positions);
  args.start_only = positions.size() == 1 && count != 1;
  if (positions.dtype != DType::kI64 || (!args.start_only && positions.size() != count))
    return Decline{"positions that do not fit"};
  return args;
}

Expected<PlannedStep> plan(const Site& site) {
  const Operands where = site.view.node().domain.empty() ? Operands{1, 2, 3} : Operands{2, 3, 1};
  const auto args = args_of(site, where);
  if (!args) return args.error();
  PlannedStep step{.out = {site.desc(0)}};
  step.run = [args = *args, where, positions = site.has(where.positions)](const Buffers& b) {
    RotaryArgs now = args;
    now.in = b.in<void>(0);
    now.cosines = b.in<void>(where.cosines);
    now.sines = b.in<void>(where.sines);
    now.positions = positions ? b.in<int64_t>(where.positions) : nullptr;
    now.out = b.out<void>(0);
    launch(b, &Kernels::rotary, now);
  };
  return step;
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "RotaryEmbedding", .plan = plan},
    {.domain = "com.microsoft", .op = "RotaryEmbedding", .plan = plan},
};

}  // namespace

std::span<const Kernel> rotary_kernels() { return kKernels; }

}  // namespace mlopt::gpu
