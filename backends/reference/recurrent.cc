#include "backends/reference/recurrent.h"

#include <fmt/core.h>

#include "core/base/gemm.h"

namespace mlopt::reference {
namespace {

std::vector<Activation> read_activations(const Call& call, const Recurrent& r,
                                         const std::vector<std::string>& defaults) {
  std::vector<std::string> names = call.view.has("activations") ? call.view.get_strings("activations") : defaults;
  if (names.size() == defaults.size() && r.directions == 2 && !call.view.has("activations"))
    names.insert(names.end(), defaults.begin(), defaults.end());
  if (names.size() != defaults.size() * static_cast<size_t>(r.directions))
    fail(call, fmt::format("{} activations, not {} for each direction", names.size(), defaults.size()));
  const std::vector<float> alphas = call.view.get_floats("activation_alpha"),
                           betas = call.view.get_floats("activation_beta");
  std::vector<Activation> all;
  // Each function that has a parameter takes the next of the list.
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    auto activation = find_activation(name);
    if (!activation) fail(call, fmt::format("unknown activation '{}'", name));
    if (activation->takes_alpha && alpha < alphas.size()) activation->alpha = alphas[alpha++];
    if (activation->takes_beta && beta < betas.size()) activation->beta = betas[beta++];
    all.push_back(*activation);
  }
  return all;
}

void read_direction(const Call& call, Recurrent& r) {
  const std::string direction = call.view.get_string("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    fail(call, fmt::format("unknown direction '{}'", direction));
  r.directions = direction == "bidirectional" ? 2 : 1;
  r.first_is_reverse = direction == "reverse";
}

void check_dims(const Call& call, int i, const Dims& want) {
  if (call.has(i) && call.in(i).dims() != want)
    fail(call, fmt::format("input {} has shape {}, not {}", i, to_string(call.in(i).dims()), to_string(want)));
}

/// Input i (or zeros) as rows d * batch + b of `hidden` elements.
template <class T>
std::vector<T> initial_state(const Call& call, const Recurrent& r, int i) {
  std::vector<T> state(static_cast<size_t>(r.directions * r.batch * r.hidden), T{0});
  if (!call.has(i)) return state;
  check_dims(call, i, r.state_dims());
  const Tensor given = as(call.in(i), dtype_of<T>());
  for (int64_t d = 0; d < r.directions; ++d)
    for (int64_t b = 0; b < r.batch; ++b)
      std::copy_n(given.data<T>() + r.state_row(d, b) * r.hidden, r.hidden,
                  state.data() + (d * r.batch + b) * r.hidden);
  return state;
}

template <class T>
Tensor final_state(const Recurrent& r, const std::vector<T>& state) {
  Tensor out(dtype_of<T>(), r.state_dims());
  T* rows = out.mutable_data<T>();
  for (int64_t d = 0; d < r.directions; ++d)
    for (int64_t b = 0; b < r.batch; ++b)
      std::copy_n(state.data() + (d * r.batch + b) * r.hidden, r.hidden, rows + r.state_row(d, b) * r.hidden);
  return out;
}

}  // namespace

Recurrent read_recurrent(const Call& call, int64_t gates, const std::vector<std::string>& defaults) {
  Recurrent r;
  read_direction(call, r);
  r.gates = gates;
  r.batch_first = call.view.get_int("layout", 0) != 0;
  r.clip = call.view.get_float("clip", 0);
  const Dims &x = call.in(0).dims(), &recurrence = call.in(2).dims();
  if (x.size() != 3 || recurrence.size() != 3)
    fail(call, fmt::format("X and R must have rank 3, not {} and {}", x.size(), recurrence.size()));
  r.steps = x[r.batch_first ? 1 : 0], r.batch = x[r.batch_first ? 0 : 1], r.inputs = x[2];
  r.hidden = recurrence[2];
  if (call.view.get_int("hidden_size", r.hidden) != r.hidden) fail(call, "hidden_size differs from the weights'");
  check_dims(call, 1, {r.directions, gates * r.hidden, r.inputs});
  check_dims(call, 2, {r.directions, gates * r.hidden, r.hidden});
  check_dims(call, 3, {r.directions, 2 * gates * r.hidden});
  check_dims(call, 4, {r.batch});
  r.lengths = call.has(4) ? to_ints(call.in(4)) : std::vector<int64_t>(static_cast<size_t>(r.batch), r.steps);
  for (const int64_t length : r.lengths)
    if (length < 0 || length > r.steps) fail(call, fmt::format("a sequence of {} steps among {}", length, r.steps));
  r.activations = read_activations(call, r, defaults);
  return r;
}

template <class T>
RecurrentWeights<T>::RecurrentWeights(const Call& call, const Recurrent& r)
    : r_(r),
      rows_(r.gates * r.hidden),
      w_(as(call.in(1), dtype_of<T>())),
      u_(as(call.in(2), dtype_of<T>())),
      b_(call.has(3) ? as(call.in(3), dtype_of<T>()) : Tensor::zeros(dtype_of<T>(), {r.directions, 2 * rows_})) {}

template <class T>
void RecurrentWeights<T>::recur(int64_t d, int64_t from, int64_t to, const T* h, T* out) const {
  const int64_t first = from * r_.hidden, count = (to - from) * r_.hidden;
  for (int64_t b = 0; b < r_.batch; ++b) std::copy_n(recurrence_bias(d) + first, count, out + b * rows_ + first);
  gemm<T>(r_.batch, count, r_.hidden, rows_of(h, r_.hidden), transpose_of(recurrence(d) + first * r_.hidden, r_.hidden),
          out + first, rows_, true);
}

template <class T>
void run_recurrent(Call& call, const Recurrent& r, const RecurrentWeights<T>& weights, bool has_cell,
                   const RecurrentStep<T>& step) {
  const DType type = call.in(0).dtype();
  const Tensor x = as(call.in(0), dtype_of<T>());
  const int64_t gates = r.gates * r.hidden, state_size = r.batch * r.hidden, hidden = r.hidden;
  std::vector<T> h = initial_state<T>(call, r, 5), c = has_cell ? initial_state<T>(call, r, 6) : std::vector<T>();
  Tensor y = Tensor::zeros(dtype_of<T>(), r.output_dims());
  T* out = y.mutable_data<T>();
  std::vector<T> projected(static_cast<size_t>(r.steps * r.batch * gates)), now(static_cast<size_t>(r.batch * gates));
  std::vector<T> next_h(static_cast<size_t>(state_size)), next_c(has_cell ? next_h.size() : 0);
  for (int64_t d = 0; d < r.directions; ++d) {
    const bool reverse = r.first_is_reverse || d == 1;
    T *hd = h.data() + d * state_size, *cd = has_cell ? c.data() + d * state_size : nullptr;
    for (int64_t i = 0; i < r.steps * r.batch; ++i)
      std::copy_n(weights.input_bias(d), gates, projected.data() + i * gates);
    gemm<T>(r.steps * r.batch, gates, r.inputs, rows_of(x.data<T>(), r.inputs),
            transpose_of(weights.input(d), r.inputs), projected.data(), gates, true);
    for (int64_t s = 0; s < r.steps; ++s) {
      // A sequence that has ended (reversed: not begun) keeps its state and gives zeros.
      const auto place = [&](int64_t b) { return reverse ? r.lengths[static_cast<size_t>(b)] - 1 - s : s; };
      const auto active = [&](int64_t b) { return s < r.lengths[static_cast<size_t>(b)]; };
      for (int64_t b = 0; b < r.batch; ++b)
        if (active(b)) std::copy_n(projected.data() + r.input_row(place(b), b) * gates, gates, now.data() + b * gates);
      std::copy_n(hd, state_size, next_h.data());
      if (has_cell) std::copy_n(cd, state_size, next_c.data());
      step(d, now.data(), next_h.data(), next_c.data());
      for (int64_t b = 0; b < r.batch; ++b) {
        if (!active(b)) continue;
        std::copy_n(next_h.data() + b * hidden, hidden, hd + b * hidden);
        if (has_cell) std::copy_n(next_c.data() + b * hidden, hidden, cd + b * hidden);
        std::copy_n(hd + b * hidden, hidden, out + r.output_row(place(b), d, b) * hidden);
      }
    }
  }
  call.set(0, as(y, type));
  call.set(1, as(final_state(r, h), type));
  if (has_cell) call.set(2, as(final_state(r, c), type));
}

template class RecurrentWeights<float>;
template class RecurrentWeights<double>;
template void run_recurrent<float>(Call&, const Recurrent&, const RecurrentWeights<float>&, bool,
                                   const RecurrentStep<float>&);
template void run_recurrent<double>(Call&, const Recurrent&, const RecurrentWeights<double>&, bool,
                                    const RecurrentStep<double>&);

}  // namespace mlopt::reference
