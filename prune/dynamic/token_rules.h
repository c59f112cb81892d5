#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/ir/view.h"
#include "core/tensor/dims.h"
#include "prune/dynamic/token_axis.h"

namespace mlopt::prune {

/// One operator that tokens come to.
class TokenStep {
 public:
  TokenStep(const NodeView& view, const TokenPaths& paths, int64_t tokens);

  const NodeView& view;
  const int64_t tokens;  ///< their number
  const Value* in(int i) const { return view.node().input(i); }
  const Value* out() const { return view.node().first_output(); }
  static Dims dims(const Value* v);
  /// Where an input has tokens.
  const std::vector<TokenAxis>& at(int input) const;
  bool on(int input, size_t axis) const;
  bool any() const;
  /// All outputs have tokens there.
  void give(TokenAxis to);

  std::vector<TokenAxis> outputs;
  bool reads_first = false;
  std::string problem;

 private:
  std::vector<std::vector<TokenAxis>> inputs_;
};

/// Says where the outputs of the operator have tokens, or why there cannot be fewer.
void step_tokens(TokenStep& step);

}  // namespace mlopt::prune
