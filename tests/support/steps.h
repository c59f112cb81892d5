#pragma once
#include <string>
#include <vector>

namespace mlopt::test {

/// A graph in ONNX text form that computes a cell of 3 units for each entry of a sequence, one after the other, in
/// double. In the texts of a step {0} is its number, {1} the entry that it takes, {2} the state and {3} the memory that
/// it is given, which are h and c with the number of the step before.
struct Steps {
  std::string inputs = "double[N,4,2] x, double[N,3] s, double[N,3] m", outputs = "double[N,3] y";
  std::string entry = "x{0} = Gather <axis = 1> (x, k{1})", cell, end = "y = Identity (h3)";
  std::vector<int> order = {0, 1, 2, 3};
  std::string state = "s", memory = "m";

  std::string graph() const;
};

/// LSTM, which has its gates in PyTorch's order.
Steps lstm_steps();
/// GRU as PyTorch computes it.
Steps gru_steps();
/// RNN of one sample, in as many steps as are worth it.
Steps rnn_steps();

std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace mlopt::test
