#include "backends/gpu/device/grams.h"
#include "backends/gpu/device/walk.h"

namespace mlopt::gpu {
namespace {

struct CountGrams {
  GramsArgs args;
  Divider by_grams;

  MLOPT_DEVICE int64_t number(int64_t i) const {
    return args.wide ? static_cast<const int64_t*>(args.in)[i] : static_cast<const int32_t*>(args.in)[i];
  }

  MLOPT_DEVICE bool is_at(const Gram& gram, int64_t row, int64_t start, int64_t step) const {
    for (int64_t k = 0; k < gram.length; ++k) {
      const int64_t at = start + k * step;
      if (at >= args.length || number(row * args.length + at) != args.pool[gram.first + k]) return false;
    }
    return true;
  }

  MLOPT_DEVICE void operator()(uint32_t i) const {
    const int64_t row = by_grams.quotient(i);
    const Gram gram = args.table[i - row * by_grams.divisor];
    const int64_t last_step = gram.length == 1 ? 1 : args.skips + 1;
    int64_t found = 0;
    for (int64_t step = 1; step <= last_step; ++step)
      for (int64_t start = 0; start < args.length; ++start) found += is_at(gram, row, start, step);
    float& out = args.out[row * args.columns + gram.column];
    if (args.mode == GramMode::kCount)
      out = static_cast<float>(found);
    else if (args.mode == GramMode::kFound)
      out = found > 0 ? gram.weight : 0;
    else
      out = static_cast<float>(found) * gram.weight;
  }
};

}  // namespace

Status count_grams(Queue& queue, const GramsArgs& args) {
  return for_each(queue, args.rows * args.grams, CountGrams{args, Divider(args.grams)});
}

}  // namespace mlopt::gpu
