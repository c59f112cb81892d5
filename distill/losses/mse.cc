#include "distill/losses.h"
#include "distill/ops.h"

namespace mlopt::distill {

Value* mse_loss(PairArgs& args) {
  require_same_shape(args);
  return mean_square(args.build, args.student, args.teacher);
}

}  // namespace mlopt::distill
