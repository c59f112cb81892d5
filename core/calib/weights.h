#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/calib/matrix.h"
#include "core/ir/model.h"

namespace mlopt {

/// The constant that a layer multiplies its input by, seen as a matrix whatever the operator: a row for each output, a
/// column for each product that an output sums up.
struct Weight {
  std::string layer;  ///< as globs know its first reader
  std::string op;     ///< of the standard: Conv of FusedConv, MatMul of com.microsoft's Attention
  Value* value = nullptr;
  std::vector<const Node*> readers;  ///< the layers that share it
  int operand = 1;                   ///< which input of the readers it is
  int64_t rows = 0, columns = 0;
  int64_t kernel = 1;                      ///< columns that read the same input channel, one after the other
  int64_t groups = 1;                      ///< as many rows each, one after the other, that read inputs of their own
  std::vector<int64_t> row_at, column_at;  ///< element (r, c) is number row_at[r] + column_at[c] of the tensor

  int64_t size() const { return rows * columns; }
  /// The name of the tensor.
  const std::string& name() const { return value->name; }
};

/// Its numbers, whatever floats they are stored in.
Matrix load(const Weight& weight);
/// Of `count` rows from `first` on.
Matrix load(const Weight& weight, int64_t first, int64_t count);
/// Puts numbers in their place, in the type that the tensor has.
void store(const Weight& weight, const Matrix& matrix);

/// Which weights a verb changes, and how it says so.
struct WeightChoice {
  std::vector<std::string> only = {}, skip = {};  ///< globs of layers and of weights
  std::string_view verb = "prune", done = "pruned";
  /// Only how they are stored will change: tables that Gather looks up are found too, and it does not matter what else
  /// reads a weight, whether there is one, and whether each glob matches one.
  bool stored_only = false;
};

struct Found {
  std::vector<Weight> weights;              ///< in the order of their first readers
  std::map<std::string, std::string> left;  ///< layer whose weight stays as it was -> why
};

/// The float weights of Conv, ConvTranspose, Gemm, MatMul, LSTM, GRU and RNN, also where ONNX Runtime has joined them
/// with others, each tensor once, that --only and --skip leave. Throws Error{kUsage} for a glob that none of them
/// matches, Error{kBadInput} where there is none and one must be.
Found find_weights(const Model& model, const WeightChoice& choice = {});

}  // namespace mlopt
