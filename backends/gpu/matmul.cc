// MatMul, Gemm and their fused forms, by the library of the device.
#include <algorithm>
#include <utility>

#include "backends/gpu/kernels.h"
#include "backends/gpu/operand.h"
#include "core/ir/read_activation.h"

namespace mlopt::gpu {
namespace {

/// How a product's activation is computed: by the library, or in place when the product is there.
struct Activations {
  Activation within, behind;
};
Activations split(const Activation& act) {
  const bool known = act.fn == Fn::kNone || act.fn == Fn::kRelu || act.fn == Fn::kGeluTanh;
  return known ? Activations{act, {}} : Activations{{}, act};
}

/// One call for each batch that its strides do not reach.
struct Calls {
  ProductArgs args;
  struct At {
    int64_t a, b, out;  ///< in elements
  };
  std::vector<At> at = {{0, 0, 0}};
};

/// A product of arrays of matrices [..., m, k] and [..., k, n], the longest batch axis by strides.
Expected<Calls> calls_of(const Dims& a, const Dims& b, const Dims& batch, ProductArgs args) {
  constexpr size_t kMostCalls = 1024;
  const Dims out_strides = row_major_strides(batch);
  const auto strides = [&](const Dims& dims) { return broadcast_strides(Dims(dims.begin(), dims.end() - 2), batch); };
  const Dims left = strides(a), right = strides(b);
  const int64_t a_size = args.m * args.k, b_size = args.k * args.n, out_size = args.m * args.n;
  auto axes = walk_axes(batch, std::vector<Dims>{left, right, out_strides}, 8);
  if (!axes) return axes.error();
  // One matrix on the right serves all rows on the left.
  if (const WalkAxis& inner = axes->front(); !args.a_transposed && inner.strides[0] == 1 && inner.strides[1] == 0) {
    args.m *= inner.count;
    axes->erase(axes->begin());
    if (axes->empty()) axes->push_back({1, {0, 0, 0}});
  }
  const auto by_count = [](const WalkAxis& x, const WalkAxis& y) { return x.count < y.count; };
  std::iter_swap(axes->begin(), std::max_element(axes->begin(), axes->end(), by_count));
  const WalkAxis& longest = axes->front();
  args.batch = longest.count;
  args.a_stride = longest.strides[0] * a_size;
  args.b_stride = longest.strides[1] * b_size;
  args.out_stride = longest.strides[2] * out_size;
  Calls calls{args};
  for (size_t k = 1; k < axes->size(); ++k) {
    const WalkAxis& axis = (*axes)[k];
    std::vector<Calls::At> all;
    for (int64_t i = 0; i < axis.count; ++i)
      for (const Calls::At& at : calls.at)
        all.push_back({at.a + i * axis.strides[0] * a_size, at.b + i * axis.strides[1] * b_size,
                       at.out + i * axis.strides[2] * out_size});
    if (all.size() > kMostCalls) return Decline{"batches that broadcast in too many ways"};
    calls.at = std::move(all);
  }
  return calls;
}

/// What besides the operands a product reads, by the node's inputs; -1: nothing.
struct Added {
  int row = -1;                        ///< added to each row
  int values = -1;                     ///< added to the whole, times beta
  std::optional<Walk<2>> spread = {};  ///< how `values` become as many as the product
};

PlannedStep product_step(TensorDesc out, Calls calls, const Activation& act, Added added = {}) {
  const int width = bits(out.dtype) / 8;
  const int64_t size = out.size();
  PlannedStep step{.out = {std::move(out)}};
  calls.args.act = split(act).within;
  step.run = [calls = std::move(calls), width, size, added, behind = split(act).behind](const Buffers& buffers) {
    ProductArgs args = calls.args;
    if (added.row >= 0) args.bias = buffers.in<void>(added.row);
    if (added.spread && buffers.in<void>(added.values) != buffers.out<void>(0))
      launch(buffers, &Kernels::copy,
             CopyArgs{width, *added.spread, buffers.in<void>(added.values), buffers.out<void>(0)});
    for (const Calls::At& at : calls.at) {
      args.a = buffers.in<std::byte>(0) + at.a * width;
      args.b = buffers.in<std::byte>(1) + at.b * width;
      args.out = buffers.out<std::byte>(0) + at.out * width;
      launch(buffers, &Kernels::product, args);
    }
    if (behind.fn != Fn::kNone)
      launch(buffers, &Kernels::eltwise,
             EltwiseArgs{args.type, behind, buffers.out<void>(0), buffers.out<void>(0), size});
  };
  return step;
}

Expected<ProductArgs> args_of(const Site& site) {
  const auto type = float_of(site.desc(0).dtype);
  if (!type) return type.error();
  if (site.desc(1).dtype != site.desc(0).dtype) return Decline{"operands of two types"};
  ProductArgs args{};
  args.type = *type;
  args.tf32 = site.context.precision == Precision::kTF32;
  args.alpha = site.view.get_float("alpha", 1);
  return args;
}

struct Operands {
  Dims a, b, batch, out;
};

/// Completes `args` for a product of arrays of matrices.
Expected<Operands> operands_of(const Site& site, ProductArgs& args) {
  Operands o{site.desc(0).dims, site.desc(1).dims, {}, {}};
  const bool row = o.a.size() == 1, column = o.b.size() == 1;
  if (o.a.empty() || o.b.empty()) return Decline{"a scalar"};
  if (row) o.a.insert(o.a.begin(), 1);
  if (column) o.b.push_back(1);
  args.a_transposed = site.view.get_int("transA", 0) != 0 && !row;
  args.b_transposed = site.view.get_int("transB", 0) != 0 && !column;
  if (site.view.get_int("transBatchA", 0) != 0 || site.view.get_int("transBatchB", 0) != 0)
    return Decline{"batches are transposed"};
  args.m = o.a[o.a.size() - (args.a_transposed ? 1 : 2)];
  args.k = o.a[o.a.size() - (args.a_transposed ? 2 : 1)];
  args.n = o.b[o.b.size() - (args.b_transposed ? 2 : 1)];
  if (o.b[o.b.size() - (args.b_transposed ? 1 : 2)] != args.k) return Decline{"the operands do not fit"};
  o.batch = broadcast(Dims(o.a.begin(), o.a.end() - 2), Dims(o.b.begin(), o.b.end() - 2));
  o.out = o.batch;
  if (!row) o.out.push_back(args.m);
  if (!column) o.out.push_back(args.n);
  return o;
}

Expected<PlannedStep> plan_matmul(const Site& site) {
  auto args = args_of(site);
  if (!args) return args.error();
  auto operands = operands_of(site, *args);
  if (!operands) return operands.error();
  auto calls = calls_of(operands->a, operands->b, operands->batch, *args);
  if (!calls) return calls.error();
  return product_step({site.desc(0).dtype, std::move(operands->out)}, *std::move(calls), {});
}

/// mlopt.MatMulAdd(a, matrix, row, values): activation(a matrix + row + values).
Expected<PlannedStep> plan_matmul_add(const Site& site) {
  auto args = args_of(site);
  if (!args) return args.error();
  const auto act = fused_activation(site.view);
  if (!act) return act.error();
  auto operands = operands_of(site, *args);
  if (!operands) return operands.error();
  for (const int i : {2, 3})
    if (site.has(i) && site.desc(i).dtype != site.desc(0).dtype) return Decline{"operands of two types"};
  if (site.has(2) && site.desc(2).size() != args->n) return Decline{"the row does not fit"};
  if (site.has(3) && site.desc(3).dims != operands->out) return Decline{"what is added does not fit"};
  args->beta = site.has(3) ? 1 : 0;
  auto calls = calls_of(operands->a, operands->b, operands->batch, *args);
  if (!calls) return calls.error();
  Added added{site.has(2) ? 2 : -1, site.has(3) ? 3 : -1};
  if (site.has(3)) {
    const Dims strides = row_major_strides(operands->out);
    const auto whole = walk_over<2>(operands->out, {strides, strides});
    if (!whole) return whole.error();
    added.spread = *whole;
  }
  PlannedStep step = product_step({site.desc(0).dtype, operands->out}, *std::move(calls), *act, added);
  step.in_place = added.values;
  return step;
}

Expected<PlannedStep> plan_gemm(const Site& site) {
  auto args = args_of(site);
  if (!args) return args.error();
  const TensorDesc &a = site.desc(0), &b = site.desc(1);
  if (a.dims.size() != 2 || b.dims.size() != 2) return Decline{"operands are no matrices"};
  const auto act = fused_activation(site.view);
  if (!act) return act.error();
  const auto operands = operands_of(site, *args);
  if (!operands) return operands.error();
  args->batch = 1;
  const float beta = site.view.get_float("beta", 1);
  TensorDesc out{a.dtype, operands->out};
  if (!site.has(2) || beta == 0) return product_step(std::move(out), {*args}, *act);
  const TensorDesc& c = site.desc(2);
  if (c.dtype != a.dtype || broadcast(c.dims, out.dims) != out.dims) return Decline{"C does not fit"};
  const bool is_row = !c.dims.empty() && c.size() == args->n && c.dims.back() == args->n;
  if (is_row && beta == 1) return product_step(std::move(out), {*args}, *act, {.row = 2});
  // Any other C is there before.
  args->beta = beta;
  const auto walk = walk_over<2>(out.dims, {broadcast_strides(c.dims, out.dims), row_major_strides(out.dims)});
  if (!walk) return walk.error();
  return product_step(std::move(out), {*args}, *act, {.values = 2, .spread = *walk});
}

constexpr Kernel kKernels[] = {
    {.domain = "", .op = "MatMul", .plan = plan_matmul},
    {.domain = "com.microsoft", .op = "FusedMatMul", .plan = plan_matmul},
    {.domain = "com.microsoft", .op = "TransposeMatMul", .plan = plan_matmul},
    {.domain = "mlopt", .op = "MatMulAdd", .plan = plan_matmul_add},
    {.domain = "", .op = "Gemm", .plan = plan_gemm},
    {.domain = "com.microsoft", .op = "FusedGemm", .plan = plan_gemm},
};

}  // namespace

std::span<const Kernel> matmul_kernels() { return kKernels; }

}  // namespace mlopt::gpu
