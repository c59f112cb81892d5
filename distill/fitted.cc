#include <fmt/core.h>

#include <cmath>

#include "core/base/rng.h"
#include "core/tensor/cast.h"
#include "distill/losses.h"

namespace mlopt::distill {
namespace {

/// A linear layer from `from` to `to` features: uniform within 1 / sqrt(from), as train::reset_weights() draws them.
Value* layer(PairArgs& args, const Dims& dims, int64_t from) {
  Rng rng(args.seed);
  const double bound = 1 / std::sqrt(static_cast<double>(from));
  Tensor weights(DType::kF64, dims);
  for (double& x : std::span(weights.mutable_data<double>(), static_cast<size_t>(weights.size())))
    x = rng.uniform(-bound, bound);
  Value* made = args.build.graph().add_constant("distill/projection", cast(weights, args.student->type.dtype));
  args.learned.push_back(made);
  return made;
}

/// `x` [N, C, H, W] averaged to this height and width, each of which divides the old.
Value* averaged(PairArgs& args, Value* x, int64_t height, int64_t width) {
  const Dims dims = train::Builder::dims(x);
  if (dims[2] == height && dims[3] == width) return x;
  if (dims[2] % height != 0 || dims[3] % width != 0) shapes_error(args, "one size is no multiple of the other");
  const std::vector<int64_t> window = {dims[2] / height, dims[3] / width};
  return args.build.op("AveragePool", {x}, {{"kernel_shape", window, {}}, {"strides", window, {}}});
}

/// The one axis along which the shapes differ, 0 where none does.
int64_t differing_axis(const PairArgs& args, const Dims& student, const Dims& teacher) {
  int64_t found = 0;
  for (size_t i = 1; i < student.size(); ++i) {
    if (student[i] == teacher[i]) continue;
    if (found != 0) shapes_error(args, "tensors that differ along one axis at most can be matched");
    found = static_cast<int64_t>(i);
  }
  return found;
}

/// Replaces the features of `x` along `axis` by `to` learned sums of them.
Value* projected(PairArgs& args, Value* x, int64_t axis, int64_t to) {
  train::Builder& b = args.build;
  const Dims dims = train::Builder::dims(x);
  const auto rank = static_cast<int64_t>(dims.size());
  const int64_t from = dims[static_cast<size_t>(axis)];
  if (axis == rank - 1) return b.op("MatMul", {x, layer(args, {from, to}, from)});
  if (axis != 1) shapes_error(args, "features lie along axis 1 or the last one");
  if (rank == 3) return b.op("MatMul", {layer(args, {to, from}, from), x});
  Dims kernel(dims.size(), 1);
  kernel[0] = to;
  kernel[1] = from;
  return b.op("Conv", {x, layer(args, kernel, from)});
}

}  // namespace

Fitted fitted(PairArgs& args, bool always) {
  Dims student = train::Builder::dims(args.student), teacher = train::Builder::dims(args.teacher);
  if (student.size() != teacher.size() || student.empty() || student[0] != teacher[0])
    shapes_error(args, "tensors of one rank and batch can be matched");
  Fitted pair{args.student, args.teacher};
  if (student.size() == 4 && (student[2] != teacher[2] || student[3] != teacher[3]) && student != teacher) {
    const int64_t height = std::min(student[2], teacher[2]), width = std::min(student[3], teacher[3]);
    pair = {averaged(args, pair.student, height, width), averaged(args, pair.teacher, height, width)};
    student = train::Builder::dims(pair.student);
    teacher = train::Builder::dims(pair.teacher);
  }
  const int64_t axis = differing_axis(args, student, teacher);
  if (axis == 0 && !always) return pair;
  const int64_t usual = student.size() == 4 ? 1 : static_cast<int64_t>(student.size()) - 1;
  const int64_t along = axis == 0 ? usual : axis;
  if (along == 0) shapes_error(args, "there is no axis of features");
  pair.student = projected(args, pair.student, along, teacher[static_cast<size_t>(along)]);
  return pair;
}

}  // namespace mlopt::distill
