#include "distill/losses.h"
#include "distill/ops.h"

namespace mlopt::distill {
namespace {

/// Where the features [N, C, H, W] are large: the sum of their squares over the channels, each sample's of norm 1.
Value* excited(train::Builder& b, Value* x) { return normalized(b, rows(b, sum(b, square(b, x), {1}))); }

}  // namespace

Value* attention_transfer_loss(PairArgs& args) {
  const Dims student = train::Builder::dims(args.student), teacher = train::Builder::dims(args.teacher);
  if (student.size() < 3 || student.size() != teacher.size())
    shapes_error(args, "attention transfer takes features [batch, channels, ...]");
  if (!std::equal(student.begin() + 2, student.end(), teacher.begin() + 2))
    shapes_error(args, "attention transfer takes features of one height and width");
  return mean_square(args.build, excited(args.build, args.student), excited(args.build, args.teacher));
}

}  // namespace mlopt::distill
