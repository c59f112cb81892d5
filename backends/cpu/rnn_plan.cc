#include "backends/cpu/rnn_plan.h"

#include <algorithm>

#include "backends/cpu/rnn_cell.h"
#include "backends/cpu/row_product.h"
#include "core/base/align.h"
#include "core/base/parallel.h"

namespace mlopt::cpu {
namespace {

constexpr int64_t kChunk = 1 << 18;           // sums that are kept between the products and the steps
constexpr int64_t kThreadProducts = 1 << 18;  // multiplications below which a second thread costs more than it brings
constexpr int64_t kFewSequences = 3;          // as many as are multiplied one by one

size_t room(int64_t elements) { return aligned_size(static_cast<size_t>(elements) * sizeof(float)); }

}  // namespace

RnnPlan::RnnPlan(const RnnShape& shape, std::shared_ptr<const RnnWeights> weights, int threads)
    : shape_(shape), weights_(std::move(weights)) {
  const RnnShape& s = shape_;
  chunk_ = std::clamp<int64_t>(kChunk / (s.batch * s.width()), 1, s.steps);
  const bool alone = chunk_ * s.batch * s.directions * s.width() * s.hidden < kThreadProducts;
  if (!alone) parts_ = std::clamp<int64_t>(threads / s.directions, 1, s.batch);
  part_rows_ = ceil_div(s.batch, parts_);
  parts_ = ceil_div(s.batch, part_rows_);
  if (alone) part_grain_ = s.directions;
  const auto add = [&](Products& to, int64_t rows, const std::shared_ptr<const PackedMatrix>& right, int team) {
    to.emplace_back(ProductShape{rows, right->layout().columns, right->layout().depth, {}}, right, team);
    product_bytes_ = std::max(product_bytes_, aligned_size(to.back().workspace_bytes()));
  };
  for (const int rest : {0, 1}) {
    const int64_t steps = rest ? s.steps % chunk_ : chunk_, rows = rest ? s.batch % part_rows_ : part_rows_;
    for (const auto& right : *weights_->input) add(input_[rest], steps * s.batch, right, threads);
    for (const auto& right : *weights_->recurrent) add(recurrent_[rest], rows, right, 1);
    if (weights_->candidate)
      for (const auto& right : *weights_->candidate) add(candidate_[rest], rows, right, 1);
  }
}

size_t RnnPlan::workspace_bytes() const {
  const RnnShape& s = shape_;
  return room(s.directions * chunk_ * s.batch * s.width()) + room(s.directions * s.batch * s.width()) +
         2 * room(state_elements()) + static_cast<size_t>(s.directions * parts_) * product_bytes_;
}

RnnPlan::Space RnnPlan::space(std::byte* at) const {
  const RnnShape& s = shape_;
  const auto take = [&](int64_t elements) {
    auto* taken = reinterpret_cast<float*>(at);
    at += room(elements);
    return taken;
  };
  Space space{};
  space.gates = take(s.directions * chunk_ * s.batch * s.width());
  space.scratch = take(s.directions * s.batch * s.width());
  space.state = take(state_elements());
  space.cell = take(state_elements());
  space.product = at;
  return space;
}

RnnPlan::Part RnnPlan::part(int64_t index) const {
  const int64_t begin = index % parts_ * part_rows_, end = std::min(begin + part_rows_, shape_.batch);
  return {index, index / parts_, begin, end};
}

/// The sums of the input of `count` steps that follow `first` ones; a direction that goes back has them at the end.
void RnnPlan::multiply_input(const RnnArgs& args, int64_t first, int64_t count, const Space& space) const {
  const RnnShape& s = shape_;
  for (int64_t d = 0; d < s.directions; ++d) {
    const int64_t from = reverse(d) ? s.steps - first - count : first;
    input_[count != chunk_][static_cast<size_t>(d)].run({.a = {args.x + from * s.batch * s.inputs, s.inputs, 1},
                                                         .c = space.gates + d * chunk_ * s.batch * s.width(),
                                                         .c_stride = s.width(),
                                                         .bias = weights_->bias.data() + d * s.width()},
                                                        space.product);
  }
}

void RnnPlan::run_part(const RnnArgs& args, const Part& part, int64_t first, int64_t count, const Space& space) const {
  const RnnShape& s = shape_;
  const int64_t d = part.direction, rows = part.end - part.begin;
  float* gates = space.gates + (d * chunk_ * s.batch + part.begin) * s.width();
  const float* state = space.state + (d * s.batch + part.begin) * s.hidden;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = reverse(d) ? s.steps - 1 - first - i : first + i;
    run_step(part, gates + (reverse(d) ? count - 1 - i : i) * s.batch * s.width(), space);
    if (args.y)
      std::copy_n(state, rows * s.hidden, args.y + ((t * s.directions + d) * s.batch + part.begin) * s.hidden);
  }
}

/// `gates` are the sums of the input for the part's sequences.
void RnnPlan::run_step(const Part& part, float* gates, const Space& space) const {
  const RnnShape& s = shape_;
  const int64_t d = part.direction, rows = part.end - part.begin, n = s.hidden, row = d * s.batch + part.begin;
  float *state = space.state + row * n, *cell = space.cell + row * n, *own = space.scratch + row * s.width();
  std::byte* room = space.product + static_cast<size_t>(part.index) * product_bytes_;
  const int rest = rows != part_rows_;
  // c += a times the matrix of the direction, for all sequences.
  const auto add = [&](const RnnWeights::Matrices& right, const Products* products, const float* a, float* c) {
    const auto index = static_cast<size_t>(d);
    if (rows > kFewSequences)
      return products[rest][index].run(
          {.a = {a, n, 1}, .c = c, .c_stride = s.width(), .addend = c, .addend_stride = s.width()}, room);
    for (int64_t r = 0; r < rows; ++r) add_row_product(a + r * n, *right[index], c + r * s.width());
  };
  if (s.layer == RnnLayer::kLinearGru) {
    const float* bias = weights_->recurrent_bias.data() + d * s.width();
    for (int64_t r = 0; r < rows; ++r) std::copy_n(bias, s.width(), own + r * s.width());
    add(*weights_->recurrent, recurrent_, state, own);
    for (int64_t r = 0; r < rows; ++r) linear_gru_cell(gates + r * s.width(), own + r * s.width(), state + r * n, n);
    return;
  }
  add(*weights_->recurrent, recurrent_, state, gates);
  if (is_simple(s.layer)) {
    const auto cell = s.layer == RnnLayer::kTanh ? tanh_cell : relu_cell;
    for (int64_t r = 0; r < rows; ++r) cell(gates + r * n, state + r * n, n);
    return;
  }
  if (s.layer == RnnLayer::kLstm) {
    for (int64_t r = 0; r < rows; ++r) lstm_cell(gates + r * s.width(), cell + r * n, state + r * n, n);
    return;
  }
  for (int64_t r = 0; r < rows; ++r) gru_reset(gates + r * s.width(), state + r * n, own + r * n, n);
  add(*weights_->candidate, candidate_, own, gates + 2 * n);
  for (int64_t r = 0; r < rows; ++r) gru_cell(gates + r * s.width(), state + r * n, n);
}

void RnnPlan::run(const RnnArgs& args, std::byte* workspace) const {
  const RnnShape& s = shape_;
  const Space space = this->space(workspace);
  const auto start = [&](const float* given, float* state) {
    given ? std::copy_n(given, state_elements(), state) : std::fill_n(state, state_elements(), 0.0f);
  };
  start(args.state, space.state);
  start(args.cell, space.cell);
  for (int64_t first = 0; first < s.steps; first += chunk_) {
    const int64_t count = std::min(chunk_, s.steps - first);
    multiply_input(args, first, count, space);
    parallel_for(s.directions * parts_, part_grain_, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) run_part(args, part(i), first, count, space);
    });
  }
  if (args.last_state) std::copy_n(space.state, state_elements(), args.last_state);
  if (args.last_cell) std::copy_n(space.cell, state_elements(), args.last_cell);
}

}  // namespace mlopt::cpu
