#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Sizes {
  int64_t batch = 2, heads = 4, kv_heads = 2, queries = 3, keys = 5, size = 4, value_size = 3;
};

/// What is added to the score of key j for query i of head h of sample b.
using Bias = std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)>;

struct Expected {
  std::vector<double> y, capped, biased, weights;
};

/// The definition, on q, k and v of shape [batch, heads, rows, size].
Expected plain(const Sizes& n, const Tensor& q, const Tensor& k, const Tensor& v, double scale, double cap,
               const Bias& bias) {
  const std::vector<double> qs = to_doubles(q), ks = to_doubles(k), vs = to_doubles(v);
  Expected out;
  for (int64_t b = 0; b < n.batch; ++b)
    for (int64_t h = 0; h < n.heads; ++h)
      for (int64_t i = 0; i < n.queries; ++i) {
        const int64_t shared = b * n.kv_heads + h / (n.heads / n.kv_heads);
        std::vector<double> weights;
        double total = 0;
        for (int64_t j = 0; j < n.keys; ++j) {
          double s = 0;
          for (int64_t e = 0; e < n.size; ++e)
            s += qs[static_cast<size_t>(((b * n.heads + h) * n.queries + i) * n.size + e)] *
                 ks[static_cast<size_t>((shared * n.keys + j) * n.size + e)];
          s *= scale;
          if (cap > 0) s = cap * std::tanh(s / cap);
          out.capped.push_back(s);
          s += bias(b, h, i, j);
          out.biased.push_back(s);
          weights.push_back(std::exp(s));
          total += weights.back();
        }
        for (double& w : weights) out.weights.push_back(w = total > 0 ? w / total : 0);
        for (int64_t e = 0; e < n.value_size; ++e) {
          double sum = 0;
          for (int64_t j = 0; j < n.keys; ++j)
            sum += weights[static_cast<size_t>(j)] * vs[static_cast<size_t>((shared * n.keys + j) * n.value_size + e)];
          out.y.push_back(sum);
        }
      }
  return out;
}

/// [batch, heads, rows, size] as [batch, rows, heads * size].
Tensor merged(const Tensor& x) {
  const Tensor t = run_op("Transpose", {x}, {.attrs = {{"perm", std::vector<int64_t>{0, 2, 1, 3}, ""}}});
  return t.reshaped({t.dim(0), t.dim(1), t.dim(2) * t.dim(3)});
}

struct Inputs {
  Tensor q, k, v;
};
Inputs random_inputs(const Sizes& n, DType type = DType::kF64) {
  return {uniform({n.batch, n.heads, n.queries, n.size}, -2, 2, type, 1),
          uniform({n.batch, n.kv_heads, n.keys, n.size}, -2, 2, type, 2),
          uniform({n.batch, n.kv_heads, n.keys, n.value_size}, -2, 2, type, 3)};
}

double no_bias(int64_t, int64_t, int64_t, int64_t) { return 0; }
Attr integer(const char* name, int64_t value) { return {name, value, ""}; }

}  // namespace

TEST_CASE("Attention equals its definition") {
  for (const Sizes& n : {Sizes{}, Sizes{1, 3, 3, 1, 1, 2, 2}, Sizes{2, 6, 1, 7, 9, 5, 4}, Sizes{1, 2, 2, 2, 0, 3, 2}}) {
    const auto [q, k, v] = random_inputs(n);
    const Expected want = plain(n, q, k, v, 1 / std::sqrt(static_cast<double>(n.size)), 0, no_bias);
    const Tensor y = tensor({n.batch, n.heads, n.queries, n.value_size}, want.y, DType::kF64);
    require_close(run_op("Attention", {q, k, v}), y, 1e-12);
    const OpOptions packed{.attrs = {integer("q_num_heads", n.heads), integer("kv_num_heads", n.kv_heads)}};
    require_close(run_op("Attention", {merged(q), merged(k), merged(v)}, packed), merged(y), 1e-12);
  }
}

TEST_CASE("Attention shows its scores at every stage") {
  const Sizes n;
  const auto [q, k, v] = random_inputs(n);
  const Tensor mask = uniform({n.heads, n.queries, n.keys}, -2, 2, DType::kF64, 4);
  const std::vector<double> m = to_doubles(mask);
  const Expected want = plain(n, q, k, v, 0.5, 1.5, [&](int64_t, int64_t h, int64_t i, int64_t j) {
    return m[static_cast<size_t>((h * n.queries + i) * n.keys + j)];
  });
  const Dims dims{n.batch, n.heads, n.queries, n.keys};
  const std::vector<double>* stages[] = {nullptr, &want.capped, &want.biased, &want.weights};
  for (const int64_t mode : {1, 2, 3}) {
    const auto got = run_node(
        "Attention", {q, k, v, mask},
        {.attrs = {{"scale", 0.5F, ""}, {"softcap", 1.5F, ""}, integer("qk_matmul_output_mode", mode)}, .outputs = 4});
    require_close(got[3].tensor(), tensor(dims, *stages[mode], DType::kF64), 1e-12);
    require_close(got[0].tensor(), tensor({n.batch, n.heads, n.queries, n.value_size}, want.y, DType::kF64), 1e-12);
  }
}

TEST_CASE("Attention hides keys: causal, windows, padding and masks") {
  const Sizes n;
  const auto [q, k, v] = random_inputs(n);
  const auto check = [&, &q = q, &k = k, &v = v](const std::vector<Datum>& inputs, std::vector<Attr> attrs,
                                                 const Bias& bias) {
    const Expected want = plain(n, q, k, v, 0.5, 0, bias);
    require_close(run_op("Attention", inputs, {.attrs = std::move(attrs)}),
                  tensor({n.batch, n.heads, n.queries, n.value_size}, want.y, DType::kF64), 1e-12);
  };
  check({q, k, v}, {integer("is_causal", 1)},
        [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i ? 0 : kNever; });
  check({q, k, v}, {integer("left_window_size", 1), integer("right_window_size", 2)},
        [](int64_t, int64_t, int64_t i, int64_t j) { return j >= i - 1 && j <= i + 2 ? 0 : kNever; });
  // The second sample has fewer keys than queries, so that its first query sees none.
  const std::vector<int64_t> valid{4, 2};
  check({q, k, v, {}, {}, {}, Tensor::ints(valid)}, {integer("is_causal", 1)},
        [&](int64_t b, int64_t, int64_t i, int64_t j) {
          const int64_t end = valid[static_cast<size_t>(b)];
          return j < end && j <= i + end - n.queries ? 0 : kNever;
        });
  // The first query sees nothing; the mask is shorter than the keys.
  const Tensor seen = tensor({3, 4}, {0, 0, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0}, DType::kBool);
  check({q, k, v, seen}, {},
        [&](int64_t, int64_t, int64_t i, int64_t j) { return j < 4 && number_at(seen, i * 4 + j) != 0 ? 0 : kNever; });
}

TEST_CASE("Attention puts the past in front") {
  const Sizes n{.keys = 7};
  const auto [q, k, v] = random_inputs(n);
  const auto rows = [](const Tensor& x, int64_t from, int64_t to) {
    return run_op("Slice", {x, Tensor::ints({from}), Tensor::ints({to}), Tensor::ints({2})});
  };
  const auto got = run_node("Attention", {q, rows(k, 4, 7), rows(v, 4, 7), {}, rows(k, 0, 4), rows(v, 0, 4)},
                            {.attrs = {integer("is_causal", 1)}, .outputs = 3});
  const Expected want =
      plain(n, q, k, v, 0.5, 0, [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i + 4 ? 0 : kNever; });
  require_close(got[0].tensor(), tensor({n.batch, n.heads, n.queries, n.value_size}, want.y, DType::kF64), 1e-12);
  require_close(got[1].tensor(), k, 0);
  require_close(got[2].tensor(), v, 0);
}

TEST_CASE("Attention in half precision is computed in single") {
  const Sizes n;
  const auto [q, k, v] = random_inputs(n, DType::kF16);
  const Expected want = plain(n, q, k, v, 0.5, 0, no_bias);
  require_close(run_op("Attention", {q, k, v}),
                tensor({n.batch, n.heads, n.queries, n.value_size}, want.y, DType::kF16), 1e-3);
}

TEST_CASE("Attention refuses what does not fit") {
  const auto [q, k, v] = random_inputs({});
  error_of("Attention", {q, q, v});
  error_of("Attention", {q, k, uniform({2, 2, 4, 3}, -1, 1, DType::kF64)});
  error_of("Attention", {q, k, v, uniform({3, 6}, -1, 1, DType::kF64)});
  error_of("Attention", {q, k, v, {}, k});
  error_of("Attention", {q, k, v}, {.attrs = {integer("left_window_size", -2)}});
  error_of("Attention", {merged(q), merged(k), merged(v)},
           {.attrs = {integer("q_num_heads", 4), integer("kv_num_heads", 3)}});
}

TEST_CASE("com.microsoft's attention operators agree with Attention") {
  const Sizes n{.kv_heads = 4, .queries = 5, .value_size = 4};
  const auto [q, k, v] = random_inputs(n);
  const Expected want =
      plain(n, q, k, v, 0.5, 0, [](int64_t, int64_t, int64_t i, int64_t j) { return j <= i ? 0 : kNever; });
  const Tensor y = merged(tensor({n.batch, n.heads, n.queries, n.value_size}, want.y, DType::kF64));
  const OpOptions options{.attrs = {integer("num_heads", 4), integer("unidirectional", 1)}, .domain = "com.microsoft"};
  require_close(run_op("MultiHeadAttention", {merged(q), merged(k), merged(v)}, options), y, 1e-12);
  // Weights that are the identity make queries, keys and values of the same input.
  const Tensor all = run_op("Concat", {merged(q), merged(k), merged(v)}, {.attrs = {integer("axis", 2)}});
  std::vector<double> identity(48 * 48);
  for (size_t i = 0; i < 48; ++i) identity[i * 49] = 1;
  require_close(
      run_op("Attention", {all, tensor({48, 48}, identity, DType::kF64), Tensor::zeros(DType::kF64, {48})}, options), y,
      1e-12);
  const OpOptions grouped{
      .attrs = {integer("num_heads", 4), integer("kv_num_heads", 4)}, .domain = "com.microsoft", .outputs = 3};
  const auto got = run_node(
      "GroupQueryAttention",
      {merged(q), merged(k), merged(v), {}, {}, tensor({2}, {4, 4}, DType::kI32), tensor({}, {5}, DType::kI32)},
      grouped);
  require_close(got[0].tensor(), y, 1e-12);
  require_close(got[1].tensor(), k, 0);
}

TEST_CASE("the last query of MultiHeadAttention sees all keys") {
  const Tensor q = uniform({1, 2, 8}, -1, 1), k = uniform({1, 5, 8}, -1, 1, DType::kF32, 2);
  const auto run = [&](int64_t causal) {
    return run_op("MultiHeadAttention", {q, k, k},
                  {.attrs = {integer("num_heads", 2), integer("unidirectional", causal)}, .domain = "com.microsoft"});
  };
  const Tensor y = run(1), all = run(0);
  for (size_t i = 0; i < 8; ++i) {
    CHECK_THAT(number_at(y, i), Catch::Matchers::WithinAbs(number_at(k, i), 1e-6));  // the first sees its own
    CHECK(number_at(y, 8 + i) == number_at(all, 8 + i));
  }
}

TEST_CASE("a query without keys gives zeros, but no numbers in ONNX Runtime's own operators") {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const Tensor x = Tensor::of<float>({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor mask = Tensor::of<float>({1, 1, 2, 2}, {kNever, kNever, 0, kNever});
  const auto first_of = [&](const std::string& op, const OpOptions& options, bool standard) {
    std::vector<Datum> inputs{x, x, x};
    if (!standard) inputs.resize(5);
    inputs.emplace_back(mask);
    const Tensor y = run_op(op, inputs, options);
    CHECK(number_at(y, 4) == 1);  // the second query sees the first key
    return number_at(y, 0);
  };
  const std::vector<Attr> heads{integer("q_num_heads", 1), integer("kv_num_heads", 1)};
  CHECK(first_of("Attention", {.attrs = heads}, true) == 0);
  CHECK(std::isnan(
      first_of("MultiHeadAttention", {.attrs = {integer("num_heads", 1)}, .domain = "com.microsoft"}, false)));
}

TEST_CASE("RotaryEmbedding turns pairs") {
  const double c0 = std::cos(0.3), s0 = std::sin(0.3), c1 = std::cos(1.1), s1 = std::sin(1.1);
  const Tensor cosines = tensor({2, 2}, {1, 1, c0, c1}, DType::kF64),
               sines = tensor({2, 2}, {0, 0, s0, s1}, DType::kF64);
  const Tensor x = tensor({1, 1, 1, 5}, {1, 2, 3, 4, 5}, DType::kF64), at = tensor({1, 1}, {1}, DType::kI64);
  const Attr width = integer("rotary_embedding_dim", 4);
  require_close(run_op("RotaryEmbedding", {x, cosines, sines, at}, {.attrs = {width}}),
                tensor({1, 1, 1, 5}, {c0 - 3 * s0, 2 * c1 - 4 * s1, s0 + 3 * c0, 2 * s1 + 4 * c1, 5}, DType::kF64),
                1e-14);
  require_close(run_op("RotaryEmbedding", {x, cosines, sines, at}, {.attrs = {width, integer("interleaved", 1)}}),
                tensor({1, 1, 1, 5}, {c0 - 2 * s0, s0 + 2 * c0, 3 * c1 - 4 * s1, 3 * s1 + 4 * c1, 5}, DType::kF64),
                1e-14);
  error_of("RotaryEmbedding", {x, cosines, sines, tensor({1, 1}, {2}, DType::kI64)}, {.attrs = {width}});
  error_of("RotaryEmbedding", {x, cosines, sines, at}, {.attrs = {integer("rotary_embedding_dim", 2)}});
}

}  // namespace mlopt::test
