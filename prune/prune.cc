#include "prune/prune.h"

#include "core/base/error.h"
#include "prune/depth/shorten_model.h"
#include "prune/mask_model.h"
#include "prune/structure/shrink_model.h"

namespace mlopt::prune {

Pruned prune(const Model& source, const Spec& spec, const Means& means) {
  check(spec);
  if (needs_curves(spec) && !means.curves)
    usage_error("nothing says what each layer can spare", "--allocation", "measure it first");
  if (spec.granularity.kind() == Kind::kMask) return mask_model(source, spec, means);
  return spec.granularity.name == kLayers ? shorten_model(source, spec, means) : shrink_model(source, spec, means);
}

}  // namespace mlopt::prune
