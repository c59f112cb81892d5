#include "distill/losses.h"
#include "distill/ops.h"

namespace mlopt::distill {

Value* hidden_loss(PairArgs& args) {
  const Fitted pair = fitted(args, false);
  return mean_square(args.build, pair.student, pair.teacher);
}

}  // namespace mlopt::distill
