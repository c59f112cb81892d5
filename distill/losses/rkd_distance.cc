#include "distill/losses.h"
#include "distill/ops.h"
#include "distill/relations.h"

namespace mlopt::distill {
namespace {

/// Distances between all samples, whose mean over pairs that lie apart is 1.
Value* relative_distances(train::Builder& b, Value* x) {
  const Relations r = relations(b, x);
  Value* pairs = b.op("Max", {b.mean(r.apart), b.number(1e-12, x->type.dtype)});
  Value* typical = b.op("Add", {b.op("Div", {b.mean(r.distance), pairs}), b.number(1e-12, x->type.dtype)});
  return b.op("Div", {r.distance, typical});
}

}  // namespace

Value* rkd_distance_loss(PairArgs& args) {
  return mean_huber(args.build, relative_distances(args.build, args.student),
                    relative_distances(args.build, args.teacher));
}

}  // namespace mlopt::distill
