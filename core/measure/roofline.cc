#include "core/measure/roofline.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/base/parallel.h"
#include "core/measure/stats.h"

namespace mlopt {
namespace {

constexpr int kLeastRuns = 3;

/// How often `work` units are done in a second by `run`, after one run that is not counted.
Rate measure(double work, double seconds, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  run();
  std::vector<double> rates;
  const auto begin = Clock::now();
  for (auto start = begin;
       static_cast<int>(rates.size()) < kLeastRuns || std::chrono::duration<double>(start - begin).count() < seconds;) {
    run();
    const auto end = Clock::now();
    rates.push_back(work / std::max(1e-9, std::chrono::duration<double>(end - start).count()));
    start = end;
  }
  return {*std::max_element(rates.begin(), rates.end()), median(rates), static_cast<int>(rates.size())};
}

/// Small numbers that differ.
template <class T>
Tensor matrix(int64_t size) {
  Tensor m(dtype_of<T>(), {size, size});
  T* data = m.mutable_data<T>();
  for (int64_t i = 0; i < m.size(); ++i) data[i] = static_cast<T>(i * 7 % 13);
  return m;
}

/// A product of a given left matrix with a constant one.
struct Product {
  Model model;
  std::vector<Datum> inputs;
};

template <class Left, class Right>
Product product(const std::string& op, int64_t size, DType out) {
  Product p;
  p.model.ir_version = 10;
  p.model.set_opset("", 21);
  Graph& graph = *p.model.graph;
  const Tensor left = matrix<Left>(size);
  Value* a = graph.add_input("a", Type::tensor(left.dtype(), left.dims()));
  Value* y = graph.add_op(op, {a, graph.add_constant("b", matrix<Right>(size))}, {}, nullptr, "y")->output(0);
  y->type = Type::tensor(out, left.dims());
  graph.add_output(y);
  p.inputs = {left};
  return p;
}

Rate rate_of(Backend& backend, const Product& p, int threads, const RooflineOptions& options) {
  CompileOptions compile;
  compile.threads = threads;
  const auto plan = backend.compile(p.model, compile);
  const auto size = static_cast<double>(options.size);
  return measure(2e-9 * size * size * size, options.seconds, [&] { plan->run(p.inputs); });
}

/// So large that a product ends in time: under an emulator or a sanitizer it is thousands of times
/// slower.
int64_t size_in_time(Backend& backend, const RooflineOptions& options) {
  constexpr int64_t kSmall = 256;
  int64_t wanted = options.size;
  if (wanted <= kSmall) return wanted;
  const RooflineOptions once{.size = kSmall, .seconds = 0};
  const double gflops = rate_of(backend, product<float, float>("MatMul", kSmall, DType::kF32), 1, once).best;
  const auto seconds = [&](int64_t size) { return 2e-9 * std::pow(static_cast<double>(size), 3) / gflops; };
  while (wanted > kSmall && seconds(wanted) > options.product_seconds) wanted /= 2;
  return wanted;
}

/// Nothing where the backend has no such product.
std::optional<Rate> byte_rate(Backend& backend, const Product& p, int threads, const RooflineOptions& options) {
  try {
    return rate_of(backend, p, threads, options);
  } catch (const Error& e) {
    if (e.code != Code::kUnsupported) throw;
    return std::nullopt;
  }
}

Rate copy_rate(const Tensor& from, Tensor& to, int threads, const RooflineOptions& options) {
  const auto bytes = static_cast<int64_t>(from.bytes());
  std::byte* out = to.mutable_raw();
  const auto copy = [&](int64_t begin, int64_t end) {
    std::memcpy(out + begin, from.raw() + begin, static_cast<size_t>(end - begin));
  };
  Rate rate;
  with_threads(threads, [&] {
    const int64_t share = (bytes + threads - 1) / threads;
    rate = measure(2e-9 * static_cast<double>(bytes), options.seconds, [&] { parallel_for(bytes, share, copy); });
  });
  return rate;
}

/// So many bytes that two such arrays leave room for others.
int64_t copied_bytes(int64_t wanted) {
  constexpr int64_t kShare = 4;
  const int64_t available = available_memory();
  return available > 0 ? std::clamp<int64_t>(available / kShare, 1, wanted) : wanted;
}

/// Pages that were never written may all be one, or none yet.
void touch(Tensor& array) {
  std::byte* data = array.mutable_raw();
  parallel_for(array.size(), 1 << 24,
               [&](int64_t begin, int64_t end) { std::memset(data + begin, 1, static_cast<size_t>(end - begin)); });
}

}  // namespace

std::vector<Roofline> measure_rooflines(Backend& backend, const std::vector<int>& threads,
                                        const RooflineOptions& given) {
  RooflineOptions options = given;
  options.size = size_in_time(backend, given);
  const Product floats = product<float, float>("MatMul", options.size, DType::kF32);
  const Product bytes = product<uint8_t, int8_t>("MatMulInteger", options.size, DType::kI32);
  Tensor from(DType::kU8, {copied_bytes(options.copy_bytes)}), to(from.dtype(), from.dims());
  for (Tensor* array : {&from, &to}) touch(*array);
  std::vector<Roofline> found;
  for (const int count : threads) {
    Roofline& r = found.emplace_back();
    r.threads = count;
    r.size = options.size;
    r.copy_bytes = static_cast<int64_t>(from.bytes());
    r.gflops = rate_of(backend, floats, count, options);
    if (options.int8) r.int8 = byte_rate(backend, bytes, count, options);
    r.copy = copy_rate(from, to, count, options);
  }
  return found;
}

double attainable(double peak, double gb_per_s, double flops, double bytes) {
  return bytes > 0 ? std::min(peak, gb_per_s * flops / bytes) : peak;
}

}  // namespace mlopt
