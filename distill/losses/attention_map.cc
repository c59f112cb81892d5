#include "distill/losses.h"
#include "distill/ops.h"

namespace mlopt::distill {

/// For maps [N, heads, queries, keys]: summed over the keys, the mean over all else.
Value* attention_map_loss(PairArgs& args) {
  train::Builder& b = args.build;
  const Dims student = train::Builder::dims(args.student), teacher = train::Builder::dims(args.teacher);
  if (student.size() != 4 || teacher.size() != 4)
    shapes_error(args, "this loss takes attention maps [batch, heads, queries, keys]");
  if (student[2] != teacher[2] || student[3] != teacher[3])
    shapes_error(args, "attention maps of other lengths cannot be compared");
  Value *own = args.student, *followed = args.teacher;
  if (student[1] != teacher[1]) {
    own = mean(b, own, {1});
    followed = mean(b, followed, {1});
  }
  return scaled(b, mean_square(b, own, followed), static_cast<double>(student[3]));
}

}  // namespace mlopt::distill
