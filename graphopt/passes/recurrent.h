#pragma once
#include <string>
#include <vector>

#include "graphopt/passes/cell.h"

// LSTM, GRU and RNN, as the cells of their steps say.
namespace mlopt::graphopt {

/// A gate as the recurrent operators take it: W, R and the biases of both.
struct Gate {
  Columns x;
  std::optional<Columns> s;  ///< none where a state of zeros was computed with
  std::vector<Columns> x_bias, s_bias;
};

/// What a step computes, as an operator computes it.
struct Recurrent {
  std::string op;
  std::vector<Gate> gates;  ///< in the operator's order
  std::vector<std::string> activations;
  bool reset_after = false;                         ///< of GRU: linear_before_reset
  Value *memory = nullptr, *next_memory = nullptr;  ///< of LSTM: the state of the cell
};

/// Nothing where the cell is another one.
using Recognizer = std::optional<Recurrent> (*)(const Cell&);
std::optional<Recurrent> rnn_of(const Cell& cell);
std::optional<Recurrent> gru_of(const Cell& cell);
std::optional<Recurrent> lstm_of(const Cell& cell);

/// Do both compute the same of what they are given? One of them may have begun with zeros.
bool are_same(const Recurrent& a, const Recurrent& b);

/// Why the operator is slower than the steps, which a Loop computes or which are written out; "" where it is faster.
/// `batch` is that of the sequence, which is taken as 8 where it is not known.
std::string cost_of(const Recurrent& step, const Dim& batch, int64_t written, Target target);

/// What a layer walks along, and what it begins with.
struct Layer {
  Value* sequence = nullptr;                    ///< [steps, batch, inputs]
  Value *initial = nullptr, *memory = nullptr;  ///< [1, batch, units]; null: zeros
  bool reverse = false;
};

/// W [1, gates * units, inputs], R [1, gates * units, units] and B [1, 2 * gates * units].
struct LayerWeights {
  Tensor w, r, b;
};
/// Those of a step's gates. Declines gates that do not fit each other.
Expected<LayerWeights> weights_of(const Recurrent& step);

/// The operator in front of `before`, which names it. Its outputs are those of LSTM, GRU and RNN.
Node* make_layer(const Recurrent& step, const LayerWeights& weights, const Layer& layer, const Node& before,
                 Builder& builder);

/// [batch, units] -> [1, batch, units].
Value* with_directions(Value* state, Builder& builder);
/// An output of a layer without the axis of its directions.
Value* without_directions(Value* output, Builder& builder);

/// A Loop over all entries of a sequence that carries one state and gives nothing else for each entry -> the layer of
/// its cell. That a runtime may not take a sequence without entries in the operator, of which a Loop makes nothing, is
/// not minded.
Expected<Replacement> layer_of_loop(Recognizer recognize, const Match& m, Builder& builder);

/// The last one of at least three steps that are written out -> the layer, of whose states the others are taken.
Expected<Replacement> layer_of_steps(Recognizer recognize, const Match& m, Builder& builder);

}  // namespace mlopt::graphopt
