#include "core/train/optimizers.h"

namespace mlopt::train {

void lamb_update(UpdateArgs& args) { add_adam(args, "LambUpdate"); }

}  // namespace mlopt::train
