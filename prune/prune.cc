#include "prune/prune.h"

#include "prune/mask_model.h"

namespace mlopt::prune {

Pruned prune(const Model& source, const Spec& spec, const Means& means) {
  check(spec);
  return mask_model(source, spec, means);  // structure is refused by check()
}

}  // namespace mlopt::prune
