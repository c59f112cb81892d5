#pragma once
#include <memory>
#include <vector>

#include "backends/cpu/activation.h"
#include "backends/cpu/dnn.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// A constant tensor in the layouts that primitives asked for: each packed once and kept. One for each constant input
/// of a step, shared by its plans; only planners, which a step runs one at a time, may call it.
class Packed {
 public:
  /// Views `constant`, whose bytes lie as `given`; a copy is made only where they are not aligned.
  Packed(const Tensor& constant, Desc given) : tensor_(constant.aligned()), given_(std::move(given)) {}
  Memory as(const Desc& wanted);

 private:
  Tensor tensor_;
  Desc given_;
  std::vector<Memory> made_;
};

/// Memory laid out as one desc where another is wanted: copied, or itself when they are the same.
class Copy {
 public:
  Copy() = default;
  Copy(const Desc& from, const Desc& to);
  Memory of(const Memory& memory, Workspace& workspace) const;

 private:
  Desc to_;
  std::shared_ptr<const Reorder> reorder_;
};

/// How an input reaches a primitive: where it lies, copied to another layout in each run, or packed ahead.
class Operand {
 public:
  Operand() = default;
  Operand(int input, const Desc& given, const Desc& wanted);
  explicit Operand(Memory ready) : ready_(std::move(ready)) {}

  Memory get(const Call& call, Workspace& workspace) const;

 private:
  int input_ = -1;
  Desc given_;
  Copy copy_;
  Memory ready_;
};

/// The operand in input `i`: `packed` when it is a constant, else the call's tensor.
Operand operand(int i, const Desc& given, const Desc& wanted, const std::shared_ptr<Packed>& packed);

/// How a primitive's output becomes output 0: written in place, or copied from another layout.
class Result {
 public:
  Result() = default;
  Result(DType type, Dims dims, const Desc& wanted, const Desc& made);

  /// The memory that the primitive writes to; what it wrote becomes the call's output in close().
  Memory open(Call& call, Workspace& workspace) const;
  /// As open(), filled with the elements of input `i` of the call, which has the output's type and dims.
  Memory open_with(Call& call, int i, Workspace& workspace) const;
  /// oneDNN's own fused activations would turn NaN into a number, so ours runs over the output where it lies.
  void close(Call& call, const Memory& memory, Workspace& workspace, const Activation& act = {}) const;

 private:
  DType type_ = DType::kUndefined;
  Dims dims_;
  Desc wanted_, made_;
  std::shared_ptr<const Reorder> reorder_, fill_;
};

}  // namespace mlopt::cpu
