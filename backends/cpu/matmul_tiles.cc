// Matrix products by tiles of our own, with the addend and the activation in their epilogue.
#include <omp.h>

#include <algorithm>
#include <utility>

#include "backends/cpu/arithmetic.h"
#include "backends/cpu/matmul.h"

namespace mlopt::cpu {
namespace {

/// Strides of the last two axes of a row-major operand, which are stored the other way round when swapped.
MatrixView view_of(const float* data, const Dims& dims, bool swapped) {
  return swapped ? MatrixView{data, 1, dims[dims.size() - 2]} : MatrixView{data, dims.back(), 1};
}

ProductShape shape_of(const Product& p) {
  ProductShape shape{p.m(), p.n(), p.k(), {}};
  BatchAxis step{1, p.m() * p.k(), p.k() * p.n(), p.m() * p.n()};
  const size_t batch = p.out.size() - 2;
  const auto dim = [&](const Dims& dims, size_t axis) { return dims.size() == p.out.size() ? dims[axis] : int64_t{1}; };
  for (size_t axis = batch; axis-- > 0;) {
    const int64_t a = dim(p.a, axis), b = dim(p.b, axis), count = p.out[axis];
    shape.batch.insert(shape.batch.begin(), {count, a == 1 ? 0 : step.a, b == 1 ? 0 : step.b, step.c});
    step = {1, step.a * a, step.b * b, step.c * count};
  }
  return shape;
}

bool one_matrix(const Product& p) {
  return std::all_of(p.b.begin(), p.b.end() - 2, [](int64_t d) { return d == 1; });
}

/// How C joins the product.
enum class Joins { kNot, kBias, kMatrix, kSpread };

Joins way_of(const MatMul& s, const Product& p, const Dims& addend) {
  if (s.beta == 1 && is_bias(p, addend)) return Joins::kBias;
  return addend == p.out ? Joins::kMatrix : Joins::kSpread;  // spread over the output first, which is then added to
}

void join(const MatMul& s, const Product& p, Joins way, const Tensor& c, ProductArgs& args) {
  args.addend_stride = p.n();
  args.beta = s.beta;
  if (way == Joins::kBias) {
    args.bias = c.data<float>();
  } else if (way == Joins::kMatrix) {
    args.addend = c.data<float>();
  } else {
    run_arithmetic(Arithmetic::kMul, paired(p.out, c.dims(), {}), c.data<float>(), &s.beta, args.c);
    args.addend = args.c;
    args.beta = 1;
  }
}

}  // namespace

ConstantRight::ConstantRight(const Tensor& b, bool swapped)
    : tensor_(b.aligned()),
      swapped_(swapped),
      primitives_(std::make_shared<Packed>(
          tensor_, matrix(Elem::f32, swapped ? b.dims() : Dims{b.dim(1), b.dim(0)}, !swapped))) {}

std::shared_ptr<const PackedMatrix> ConstantRight::for_tiles() {
  if (!tiles_) {
    const int64_t k = tensor_.dim(swapped_ ? 1 : 0), n = tensor_.dim(swapped_ ? 0 : 1);
    const float* data = std::as_const(tensor_).data<float>();
    tiles_ = std::make_shared<PackedMatrix>(view_of(data, {k, n}, swapped_), k, n);
  }
  return tiles_;
}

/// oneDNN's products reach the peak of AVX-512 and AMX but not that of older units, where the tiles are faster but for
/// two kinds of thin products: those in which little is left to multiply for each element that is packed, and those
/// with less columns than fill a vector.
bool prefers_tiles(const Product& p, bool constant_right) {
  if (static_cast<int>(dnnl::get_effective_cpu_isa()) >= static_cast<int>(dnnl::cpu_isa::avx512_core)) return false;
  constexpr int64_t kFewRows = 8, kFewColumns = 4, kSmall = 1 << 14;
  if (p.m() * p.n() * p.k() < kSmall) return true;  // a primitive's call costs more than all of it
  return p.n() >= kFewColumns && (constant_right || p.m() >= kFewRows);
}

Step plan_tiles(const std::shared_ptr<const MatMul>& s, const Product& p, const Call& call, bool addend) {
  const auto right = s->right && one_matrix(p) ? s->right->for_tiles() : nullptr;
  const auto plan = std::make_shared<ProductPlan>(shape_of(p), right, omp_get_max_threads());
  const Joins way = addend ? way_of(*s, p, call.in(MatMul::kAddend).dims()) : Joins::kNot;
  return [=](Call& c) {
    Workspace space;
    ProductArgs args;
    args.a = view_of(c.in(MatMul::kLeft).data<float>(), p.a, s->swap_left);
    args.b = view_of(c.in(MatMul::kRight).data<float>(), p.b, s->swap_right);
    args.c = c.make(0, DType::kF32, p.result).mutable_data<float>();
    args.c_stride = p.n();
    args.alpha = s->alpha;
    args.activation = s->act;
    if (way != Joins::kNot) join(*s, p, way, c.in(MatMul::kAddend), args);
    plan->run(args, space.take(plan->workspace_bytes()));
  };
}

}  // namespace mlopt::cpu
