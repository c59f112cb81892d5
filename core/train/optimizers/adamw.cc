#include "core/train/optimizers.h"

namespace mlopt::train {

void adamw_update(UpdateArgs& args) { add_adam(args, "AdamWUpdate"); }

}  // namespace mlopt::train
