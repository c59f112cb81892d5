#include "distill/losses.h"
#include "distill/ops.h"

namespace mlopt::distill {
namespace {

/// Scores as [rows, classes]: along the last axis, of pictures [N, C, H, W] along C.
Value* score_rows(train::Builder& b, Value* x) {
  Dims dims = train::Builder::dims(x);
  if (dims.size() == 4) {
    x = b.op("Transpose", {x}, {{"perm", std::vector<int64_t>{0, 2, 3, 1}, {}}});
    dims = train::Builder::dims(x);
  }
  return reshaped(b, x, {element_count(dims) / dims.back(), dims.back()});
}

/// log softmax(x / T), no lower than what makes 0 * log 0 a 0: scores that are masked with -inf stay numbers.
Value* log_shares(train::Builder& b, Value* x, double temperature) {
  constexpr double kLowest = -1e4;
  Value* logs = b.op("LogSoftmax", {scaled(b, x, 1 / temperature)}, {{"axis", int64_t{1}, {}}});
  return b.op("Max", {logs, b.number(kLowest, x->type.dtype)});
}

}  // namespace

/// T^2 * sum of p log(p / q) over the classes, p the teacher's and q the student's shares at temperature T: the T^2
/// keeps the gradient's size whatever T is. The mean over several teachers is, but for a constant, the divergence from
/// their mean shares.
Value* kl_loss(PairArgs& args) {
  require_same_shape(args);
  train::Builder& b = args.build;
  Value* q = log_shares(b, score_rows(b, args.student), args.temperature);
  Value* p = log_shares(b, score_rows(b, args.teacher), args.temperature);
  Value* terms = b.op("Mul", {b.op("Exp", {p}), b.op("Sub", {p, q})});
  const auto classes = static_cast<double>(train::Builder::dims(terms)[1]);
  return scaled(b, b.mean(terms), args.temperature * args.temperature * classes);
}

}  // namespace mlopt::distill
