// Prints GFLOP/s of our float32 matrix product beside those of oneDNN's primitives, and how much of what one core can
// do ours uses: product_bench [THREADS]. B: the right matrix is not constant; BT: nor is it, and it lies transposed.
#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "backends/cpu/dnn.h"
#include "backends/cpu/packed_product.h"
#include "bench/timing.h"
#include "core/base/parallel.h"

namespace {

using namespace mlopt;
using namespace mlopt::cpu;
using namespace mlopt::bench;

struct Shape {
  int64_t batch, m, k, n;
  bool constant, transposed;  ///< the right matrix
};

Run ours(const Shape& s, int threads) {
  const Memory a = filled(plain(Elem::f32, {s.batch, s.m, s.k})), b = filled(plain(Elem::f32, {s.batch, s.k, s.n})),
               c = filled(plain(Elem::f32, {s.batch, s.m, s.n}));
  const auto at = [](const Memory& m) { return static_cast<float*>(m.get_data_handle()); };
  const MatrixView right = s.transposed ? MatrixView{at(b), 1, s.k} : MatrixView{at(b), s.n, 1};
  const auto packed = s.constant ? std::make_shared<PackedMatrix>(right, s.k, s.n) : nullptr;
  const auto plan = std::make_shared<ProductPlan>(
      ProductShape{s.m, s.n, s.k, {{s.batch, s.m * s.k, s.k * s.n, s.m * s.n}}}, packed, threads);
  return [=, owner = b, space = workspace(plan->workspace_bytes())] {
    plan->run({.a = {at(a), s.k, 1}, .b = right, .c = at(c), .c_stride = s.n}, space->mutable_raw());
  };
}

template <class Primitive>
Run primitive(const typename Primitive::primitive_desc& pd) {
  return run_of<Primitive>(pd, {{DNNL_ARG_SRC, filled(pd.src_desc())},
                                {DNNL_ARG_WEIGHTS, filled(pd.weights_desc())},
                                {DNNL_ARG_DST, filled(pd.dst_desc())}});
}

Run dnn_matmul(const Shape& s) {
  const Dims a{s.batch, s.m, s.k}, b{s.batch, s.k, s.n}, c{s.batch, s.m, s.n};
  const Desc right = s.constant     ? any(Elem::f32, b)
                     : s.transposed ? Desc(b, Elem::f32, Dims{s.k * s.n, 1, s.k})
                                    : plain(Elem::f32, b);
  return primitive<dnnl::matmul>({engine(), plain(Elem::f32, a), right, plain(Elem::f32, c), new_attr()});
}

Run dnn_inner_product(const Shape& s) {
  if (s.batch != 1 || !s.constant) return {};
  return primitive<dnnl::inner_product_forward>({engine(), dnnl::prop_kind::forward_inference,
                                                 plain(Elem::f32, {s.m, s.k}), any(Elem::f32, {s.n, s.k}),
                                                 plain(Elem::f32, {s.m, s.n}), new_attr()});
}

/// A tile that stays in the nearest cache: what the units of one core can do just now.
struct Peak {
  static constexpr int64_t kDepth = 192;
  ProductKernels kernels = product_kernels();
  std::vector<float> a = numbers(kernels.rows * kDepth), b = numbers(kernels.width * kDepth),
                     c = numbers(kernels.rows * kernels.width);

  double flops() const { return 2.0 * static_cast<double>(kDepth * kernels.rows * kernels.width); }
  void run() {
    Tile t;
    t.depth = kDepth;
    t.a.data = a.data();
    t.b = t.ahead = b.data();
    t.c = c.data();
    t.c_stride = t.columns = kernels.width;
    kernels.tile[1][ProductKernels::kVectors - 1][kernels.rows - 1](t);
  }
};

constexpr Shape kShapes[] = {
    {1, 2048, 2048, 2048, true, false}, {1, 128, 768, 3072, true, false},  {1, 128, 3072, 768, true, false},
    {1, 128, 768, 32000, true, false},  {1, 64, 768, 32000, true, false},  {1, 128, 768, 768, true, false},
    {1, 197, 768, 3072, true, false},   {1, 197, 3072, 768, true, false},  {1, 197, 768, 768, true, false},
    {1, 1500, 384, 1536, true, false},  {1, 1500, 1536, 384, true, false}, {1, 3136, 64, 256, true, false},
    {1, 3136, 24, 144, true, false},    {1, 49, 2048, 512, true, false},   {1, 1, 768, 3072, true, false},
    {1, 1, 768, 768, true, false},      {1, 1, 2048, 1000, true, false},   {1, 4, 768, 3072, true, false},
    {1, 8, 768, 768, true, false},      {1, 16, 768, 3072, true, false},   {1, 1, 4, 10, true, false},
    {1, 4, 10, 10, true, false},        {1, 64, 64, 64, true, false},      {12, 128, 64, 128, false, true},
    {12, 128, 128, 64, false, false},   {12, 197, 64, 197, false, true},   {12, 197, 197, 64, false, false},
    {1, 512, 512, 512, false, false},   {1, 512, 512, 512, false, true},   {12, 1, 64, 512, false, true},
    {12, 1, 512, 64, false, false},     {1, 1000, 1000, 1, true, false},
};

void measure(int threads) {
  fmt::print("{:>30} {:>8} {:>8} {:>8}   ours of {} x peak\n", "batch x m x k x n", "ours", "matmul", "inner", threads);
  Peak peak;
  for (const Shape& s : kShapes) {
    const double flops = 2.0 * static_cast<double>(s.batch * s.m * s.k * s.n);
    const auto rates = rates_of({{[&] { peak.run(); }, peak.flops()},
                                 {ours(s, threads), flops},
                                 {dnn_matmul(s), flops},
                                 {dnn_inner_product(s), flops}},
                                threads);
    const char* kind = s.constant ? "" : s.transposed ? "BT" : "B";
    fmt::print("{:3} x {:4} x {:4} x {:4} {:2} {:8.1f} {:8.1f} {:8.1f}   {:3.0f} %  {:9.2f} us\n", s.batch, s.m, s.k,
               s.n, kind, rates[1], rates[2], rates[3], 100 * rates[1] / (rates[0] * threads), flops / rates[1] * 1e-3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  with_threads(threads, [&] { measure(threads); });
}
