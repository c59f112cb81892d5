#pragma once
#include <map>
#include <optional>

#include "core/rewrite/fusion/attention_site.h"

namespace mlopt::fusion {

/// Computes with batch and heads as two axes what was computed with both as one, [batch * heads, rows, columns], as
/// torch.bmm takes matrices.
class Parting {
 public:
  Parting(const Joined& joined, Builder& builder) : joined_(joined), builder_(builder) {}

  /// v, of that shape, as [batch, heads, rows, columns]; null where something before it takes no other than one axis
  /// for both, is read by others too, or gives what is not known to be of that shape.
  Value* part(Value* v);
  /// How many operators fewer there are than before, shapes not counted.
  int64_t saved() const { return saved_; }

 private:
  /// A value with both axes, or what repeats along them.
  struct Part {
    Value* value = nullptr;
    bool whole = false;
  };

  bool is_joined(const Value* v) const;
  SymDims four(const SymDims& three) const;
  Part part_of(Value* v);
  Part again(Value* v);
  Part computed(Value* v);
  Part turned(Value* v);
  Part gathered(Value* v);
  Part unrepeated(Value* v);
  Part viewed_from_before(Value* v);
  Value* index_of(Value* v);

  Joined joined_;
  Builder& builder_;
  std::map<const Value*, Part> made_;
  int64_t saved_ = 0;
};

}  // namespace mlopt::fusion
