#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/rewrite/pass.h"

namespace mlopt::prune {

/// A place where tokens can be left out: behind an attention, which says how much each of them is looked at.
struct TokenPlace {
  std::string attention;  ///< its probabilities, [..., queries, keys]
  std::string value;      ///< what all that comes behind hangs on alone
  size_t axis = 0;        ///< of the tokens there
  int64_t tokens = 0;
  bool first_stays = false;  ///< it is read by its place: a class token
  int64_t macs = 0;          ///< that lead to it, of one sample
};

struct TokenPlaces {
  std::vector<TokenPlace> places;
  std::map<std::string, std::string> left;  ///< attention behind which all tokens stay -> why
};

/// In the order of the graph. Attention is a Softmax over the last axis whose result is multiplied by what came of as
/// many tokens. Types must be inferred.
TokenPlaces token_places(const Model& model, TypeRule standard);

/// Behind the place the `keep` tokens that received the most attention go on, the mean over heads and queries (as in
/// EViT, Liang et al. 2022, where it is the class token's): ReduceMean, TopK and Gather, and constant shapes behind
/// follow. Throws Error{kUnsupported} for an opset that lacks these, and where shapes do not come out.
void prune_tokens(Model& model, const TokenPlace& place, int64_t keep, TypeRule standard);

/// How many of so many tokens stay where the share `gone` of them goes; the first, where it stays, and one more.
int64_t tokens_left(const TokenPlace& place, double gone);

}  // namespace mlopt::prune
