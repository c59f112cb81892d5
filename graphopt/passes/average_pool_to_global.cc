// AveragePool with one window that is the whole image -> GlobalAveragePool, for which runtimes have faster kernels.
#include <algorithm>
#include <iterator>

#include "core/ir/pool_shape.h"
#include "graphopt/passes.h"

namespace mlopt::graphopt {
namespace {

bool is_whole(const PoolAxis& a) {
  return a.kernel == a.in && a.out == 1 && a.begin == 0 && a.end == 0 && (a.dilation == 1 || a.kernel == 1);
}

/// Those of an image, of a batch and channels of any size.
std::optional<Dims> image_dims(const Type& type) {
  if (!type.dims) return std::nullopt;
  Dims dims;
  for (const Dim& d : *type.dims) {
    if (dims.size() >= 2 && !d.value()) return std::nullopt;
    dims.push_back(d.value().value_or(1));
  }
  return dims;
}

Expected<Replacement> rewrite(const Match& m, Builder& builder) {
  Value* x = m.value("x");
  const std::optional<Dims> dims = image_dims(x->type);
  if (!dims) return Decline{"its shape is not known"};
  const Expected<Pool> pool = pool_of(builder.view(*m.root), *dims, true);
  if (!pool) return pool.error();
  if (!std::all_of(std::begin(pool->axes), std::end(pool->axes), is_whole))
    return Decline{"its window is not the whole image"};
  return Replacement{builder.op("GlobalAveragePool", {x}, {}, m.root->output(0)->type)};
}

std::vector<Rule> rules() { return {{Pattern::op("AveragePool", {Pattern::any("x")}), rewrite}}; }

}  // namespace

const Pass average_pool_to_global = {"average_pool_to_global",
                                     "replace average pools whose window is the whole image by global ones", rules};

}  // namespace mlopt::graphopt
