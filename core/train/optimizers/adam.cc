#include "core/train/optimizers.h"

namespace mlopt::train {

void adam_update(UpdateArgs& args) { add_adam(args, "AdamUpdate"); }

}  // namespace mlopt::train
