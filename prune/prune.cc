#include "prune/prune.h"

#include "prune/mask_model.h"
#include "prune/structure/shrink_model.h"

namespace mlopt::prune {

Pruned prune(const Model& source, const Spec& spec, const Means& means) {
  check(spec);
  return spec.granularity.kind() == Kind::kStructure ? shrink_model(source, spec, means)
                                                     : mask_model(source, spec, means);
}

}  // namespace mlopt::prune
