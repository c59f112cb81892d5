// RNN, GRU and LSTM against their equations, one sequence and one direction at a time.
#include <cmath>
#include <string>
#include <vector>

#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/op.h"

namespace mlopt::test {
namespace {

using Row = std::vector<double>;

struct Case {
  std::string op;
  int64_t steps = 4, batch = 3, inputs = 2, hidden = 3;
  std::string direction = "forward";
  std::vector<int64_t> lengths = {};
  bool bias = true, initial = true, peepholes = false, batch_first = false, linear_before_reset = false,
       coupled = false;
  double clip = 0;
};

int64_t gates_of(const std::string& op) { return op == "RNN" ? 1 : op == "GRU" ? 3 : 4; }
int64_t directions_of(const Case& c) { return c.direction == "bidirectional" ? 2 : 1; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The inputs in double, as [directions, ...] and [steps, batch, inputs].
struct Weights {
  Row x, w, r, b, h, c, p;
};

/// One step of direction d for one sequence: replaces h and c.
void step(const Case& k, const Weights& v, int64_t d, const double* x, Row& h, Row& c) {
  const int64_t n = k.hidden, gates = gates_of(k.op);
  const auto at = [](const Row& row, int64_t i) { return row.empty() ? 0.0 : row[static_cast<size_t>(i)]; };
  const auto clipped = [&](double s) { return k.clip > 0 ? std::min(std::max(s, -k.clip), k.clip) : s; };
  const auto from_x = [&](int64_t gate, int64_t i) {
    double s = at(v.b, d * 2 * gates * n + gate * n + i);
    for (int64_t j = 0; j < k.inputs; ++j) s += at(v.w, ((d * gates + gate) * n + i) * k.inputs + j) * x[j];
    return s;
  };
  const auto from_h = [&](int64_t gate, int64_t i, const Row& state) {
    double s = at(v.b, (d * 2 + 1) * gates * n + gate * n + i);
    for (int64_t j = 0; j < n; ++j) s += at(v.r, ((d * gates + gate) * n + i) * n + j) * at(state, j);
    return s;
  };
  const Row h0 = h, c0 = c;
  for (int64_t i = 0; i < n; ++i) {
    const auto both = [&](int64_t gate) { return from_x(gate, i) + from_h(gate, i, h0); };
    double& out = h[static_cast<size_t>(i)];
    if (k.op == "RNN") out = std::tanh(clipped(both(0)));
    if (k.op == "GRU") {
      const double z = sigmoid(clipped(both(0)));
      Row reset(h0);
      for (int64_t j = 0; j < n; ++j)
        reset[static_cast<size_t>(j)] *= sigmoid(clipped(from_x(1, j) + from_h(1, j, h0)));
      const double opened = sigmoid(clipped(both(1)));
      const double inner = k.linear_before_reset ? opened * from_h(2, i, h0) : from_h(2, i, reset);
      out = (1 - z) * std::tanh(clipped(from_x(2, i) + inner)) + z * at(h0, i);
    }
    if (k.op == "LSTM") {
      const auto peep = [&](int64_t gate, double cell) { return at(v.p, (d * 3 + gate) * n + i) * cell; };
      const double in = sigmoid(clipped(both(0) + peep(0, at(c0, i))));
      const double keep = k.coupled ? 1 - in : sigmoid(clipped(both(2) + peep(2, at(c0, i))));
      double& cell = c[static_cast<size_t>(i)];
      cell = keep * at(c0, i) + in * std::tanh(clipped(both(3)));
      out = sigmoid(clipped(both(1) + peep(1, cell))) * std::tanh(cell);
    }
  }
}

/// Y [steps, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden].
struct Result {
  Row y, h, c;
};

Result plain(const Case& k, const Weights& v) {
  const int64_t n = k.hidden, directions = directions_of(k);
  Result out;
  out.y.resize(static_cast<size_t>(k.steps * directions * k.batch * n));
  for (int64_t d = 0; d < directions; ++d) {
    for (int64_t b = 0; b < k.batch; ++b) {
      const auto initial = [&](const Row& all) {
        const auto first = all.begin() + (all.empty() ? 0 : (d * k.batch + b) * n);
        return all.empty() ? Row(static_cast<size_t>(n), 0.0) : Row(first, first + n);
      };
      Row h = initial(v.h), c = initial(v.c);
      const int64_t length = k.lengths.empty() ? k.steps : k.lengths[static_cast<size_t>(b)];
      for (int64_t s = 0; s < length; ++s) {
        const int64_t t = k.direction == "reverse" || d == 1 ? length - 1 - s : s;
        step(k, v, d, v.x.data() + (t * k.batch + b) * k.inputs, h, c);
        std::copy(h.begin(), h.end(), out.y.begin() + ((t * directions + d) * k.batch + b) * n);
      }
      out.h.insert(out.h.end(), h.begin(), h.end());
      out.c.insert(out.c.end(), c.begin(), c.end());
    }
  }
  return out;
}

/// [a, b, rest] as [b, a, rest], for layout 1.
Tensor swapped(const Tensor& x, bool really) {
  if (!really) return x;
  return run_op(
      "Transpose", {x},
      {.attrs = {{"perm", x.rank() == 3 ? std::vector<int64_t>{1, 0, 2} : std::vector<int64_t>{2, 0, 1, 3}, ""}}});
}

void check(const Case& k, DType type = DType::kF64, double tolerance = 1e-12) {
  const int64_t gates = gates_of(k.op), d = directions_of(k), n = k.hidden;
  const auto make = [&](Dims dims, uint64_t seed) { return uniform(std::move(dims), -1, 1, type, seed); };
  const Tensor x = make({k.steps, k.batch, k.inputs}, 1), w = make({d, gates * n, k.inputs}, 2),
               r = make({d, gates * n, n}, 3);
  const Tensor b = make({d, 2 * gates * n}, 4), h = make({d, k.batch, n}, 5), c = make({d, k.batch, n}, 6),
               p = make({d, 3 * n}, 7);
  const bool lstm = k.op == "LSTM";
  std::vector<Datum> inputs{swapped(x, k.batch_first), w, r, {}, {}, {}};
  if (k.bias) inputs[3] = b;
  if (!k.lengths.empty()) inputs[4] = cast(Tensor::ints(k.lengths), DType::kI32);
  if (k.initial) inputs[5] = swapped(h, k.batch_first);
  if (lstm) inputs.push_back(k.initial ? Datum(swapped(c, k.batch_first)) : Datum());
  if (lstm && k.peepholes) inputs.push_back(p);
  std::vector<Attr> attrs{
      {"hidden_size", n, ""}, {"direction", k.direction, ""}, {"layout", int64_t{k.batch_first}, ""}};
  if (k.clip > 0) attrs.push_back({"clip", static_cast<float>(k.clip), ""});
  if (k.linear_before_reset) attrs.push_back({"linear_before_reset", int64_t{1}, ""});
  if (k.coupled) attrs.push_back({"input_forget", int64_t{1}, ""});
  const auto got = run_node(k.op, inputs, {.attrs = attrs, .opset = 14, .outputs = lstm ? 3 : 2});
  const auto given = [](bool is, const Tensor& t) { return is ? to_doubles(t) : Row(); };
  const Result want = plain(k, {to_doubles(x), to_doubles(w), to_doubles(r), given(k.bias, b), given(k.initial, h),
                                given(k.initial, c), given(k.peepholes, p)});
  require_close(got[0].tensor(), swapped(tensor({k.steps, d, k.batch, n}, want.y, type), k.batch_first), tolerance);
  require_close(got[1].tensor(), swapped(tensor({d, k.batch, n}, want.h, type), k.batch_first), tolerance);
  if (lstm) require_close(got[2].tensor(), swapped(tensor({d, k.batch, n}, want.c, type), k.batch_first), tolerance);
}

}  // namespace

TEST_CASE("recurrent layers equal their equations") {
  for (const std::string op : {"RNN", "GRU", "LSTM"}) {
    for (const std::string direction : {"forward", "reverse", "bidirectional"}) {
      INFO(op << " " << direction);
      const Case plain_case{.op = op, .direction = direction};
      check(plain_case);
      check(plain_case, DType::kF32, 1e-5);
      check(plain_case, DType::kF16, 4e-3);
      check({.op = op, .direction = direction, .lengths = {4, 0, 2}});
      check({.op = op, .direction = direction, .bias = false, .initial = false});
      check({.op = op, .direction = direction, .lengths = {1, 4, 3}, .batch_first = true});
      check({.op = op, .direction = direction, .clip = 0.25});
    }
  }
}

TEST_CASE("GRU and LSTM follow their own options") {
  for (const std::string direction : {"forward", "bidirectional"}) {
    check({.op = "GRU", .direction = direction, .linear_before_reset = true});
    check({.op = "LSTM", .direction = direction, .peepholes = true});
    check({.op = "LSTM", .direction = direction, .peepholes = true, .coupled = true});
  }
}

TEST_CASE("recurrent layers take other activations, each with the next alpha and beta") {
  const auto run = [](std::vector<std::string> names, std::vector<float> alpha, std::vector<float> beta, double x) {
    const Tensor one = tensor({1, 1, 1}, {1}), none = tensor({1, 1, 1}, {0});
    std::vector<Attr> attrs{{"activations", std::move(names), ""}};
    if (!alpha.empty()) attrs.push_back({"activation_alpha", std::move(alpha), ""});
    if (!beta.empty()) attrs.push_back({"activation_beta", std::move(beta), ""});
    return number_at(run_op("RNN", {tensor({1, 1, 1}, {x}), one, none}, {.attrs = attrs, .opset = 14}), 0);
  };
  CHECK(run({"Relu"}, {}, {}, -2) == 0);
  CHECK(run({"Affine"}, {2}, {3}, -2) == -1);
  CHECK(run({"LeakyRelu"}, {}, {}, -2) == Approx(-0.02));
  CHECK(run({"ThresholdedRelu"}, {1.5F}, {}, 1) == 0);
  CHECK(run({"ScaledTanh"}, {2}, {0.5F}, 1) == Approx(2 * std::tanh(0.5)));
  CHECK(run({"HardSigmoid"}, {}, {}, 1) == Approx(0.7));
  CHECK(run({"Elu"}, {2}, {}, -1) == Approx(2 * std::expm1(-1)));
  CHECK(run({"Softsign"}, {}, {}, -3) == Approx(-0.75));
  CHECK(run({"Softplus"}, {}, {}, 100) == 100);
}

TEST_CASE("recurrent layers refuse what does not fit") {
  const Tensor x = uniform({2, 1, 3}, -1, 1), w = uniform({1, 4, 3}, -1, 1), r = uniform({1, 4, 4}, -1, 1);
  const auto with = [](const char* name, AttrValue value) {
    return OpOptions{.attrs = {{name, std::move(value), ""}}, .opset = 14};
  };
  error_of("RNN", {x, uniform({1, 4, 2}, -1, 1), r}, {.opset = 14});
  error_of("RNN", {x, w, r}, with("direction", std::string("bidirectional")));
  error_of("RNN", {x, w, r}, with("direction", std::string("sideways")));
  error_of("RNN", {x, w, r}, with("hidden_size", int64_t{5}));
  error_of("RNN", {x, w, r}, with("activations", std::vector<std::string>{"Sine"}));
  error_of("RNN", {x, w, r, {}, tensor({1}, {3}, DType::kI32)}, {.opset = 14});
  error_of("LSTM", {x, w, r}, {.opset = 14});
}

}  // namespace mlopt::test
