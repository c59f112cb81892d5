#pragma once
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/dnn.h"
#include "backends/cpu/packed.h"
#include "core/exec/kernel.h"

namespace mlopt::cpu {

/// oneDNN's description of a planned tensor, whose type must have an elem_of().
Desc desc_of(const TensorDesc& tensor);

/// A type of the same size whose elements oneDNN copies as they are; nothing for other sizes than 8 and 32 bits (of 16
/// bits it has a plain loop on processors without AVX-512).
std::optional<Elem> carrier(DType type);

/// Where an argument of a primitive comes from.
struct Source {
  enum class Kind { kInput, kOutput, kScratch, kFixed };
  Kind kind = Kind::kFixed;
  int index = 0;      ///< of the input or output
  size_t offset = 0;  ///< in the scratch
  Memory fixed = {};
  std::shared_ptr<const void> owner = {};  ///< of what `fixed` lies in, where that is not its own

  static Source in(int i) { return {Kind::kInput, i, 0, {}, {}}; }
  static Source out(int i) { return {Kind::kOutput, i, 0, {}, {}}; }
  static Source scratch(size_t offset) { return {Kind::kScratch, 0, offset, {}, {}}; }
  static Source of(Memory memory) { return {Kind::kFixed, 0, 0, std::move(memory), {}}; }
  static Source of(const std::shared_ptr<Packed>& weights, const Desc& wanted) {
    return {Kind::kFixed, 0, 0, weights->as(wanted), weights};
  }
};

/// A primitive with its arguments, run on the buffers of a planned step. What it needs between runs is kept in their
/// memo, so that a run only sets addresses.
class Primitive {
 public:
  struct Argument {
    int id;  ///< DNNL_ARG_SRC, ...
    Desc desc;
    Source source;
  };

  Primitive() = default;
  template <class T>
  static Primitive make(const typename T::primitive_desc& pd, std::vector<Argument> arguments, size_t scratch = 0) {
    return Primitive(T(pd), pd.impl_info_str(), pd.scratchpad_desc(), std::move(arguments), scratch);
  }

  /// Runs `first` before, on the same buffers.
  void run_after(Primitive first);
  /// Bytes of scratch that a run uses, what lies before its own included.
  size_t scratch_bytes() const { return scratch_bytes_; }
  void run(const Buffers& buffers) const;
  /// oneDNN's name of the implementation: "jit:avx2", "brg_matmul:avx512_core".
  const std::string& name() const { return name_; }
  size_t packed_bytes() const;  ///< of arguments that are always the same
  /// What it needs and how it goes, of a step that it does.
  void describe(PlannedStep& step) const;

 private:
  struct Part {
    dnnl::primitive primitive;
    std::vector<Argument> arguments;
  };
  Primitive(dnnl::primitive primitive, std::string name, const Desc& scratchpad, std::vector<Argument> arguments,
            size_t scratch);

  std::vector<Part> parts_;
  std::string name_;
  size_t scratch_bytes_ = 0;
};

/// The constant in input `i`, whose bytes lie as `given`, in the layout that a primitive wants: packed once for all
/// plans of an executable. `form` tells apart what reads the same constant in different ways.
Source packed(const Site& site, int i, const std::string& form, const Desc& given, const Desc& wanted);

/// Where a primitive finds input `i`, whose elements lie as `given`, as it wants them: where they lie, or where
/// `before` copies them in each run.
Source input_as(int i, const Desc& given, const Desc& wanted, Primitive& before);

/// The same, packed ahead where the input is constant (then it is noted in step.packed). `form` as for packed().
Source weights_of(const Site& site, int i, const std::string& form, const Desc& given, const Desc& wanted,
                  PlannedStep& step, Primitive& before);

/// Why there is no primitive; throws Error for any other failure.
Decline declined(const dnnl::error& e, const Node& node);

/// `plan`, where failures of oneDNN are declines and errors of ours.
template <Expected<PlannedStep> (*plan)(const Site&)>
Expected<PlannedStep> guarded(const Site& site) {
  try {
    return plan(site);
  } catch (const dnnl::error& e) {
    return declined(e, site.view.node());
  }
}

/// Copies the elements that lie in input 0 as `from` says, in strides over the index space `dims`, to where `to` says.
/// They have whole bytes.
PlannedStep plan_copy(TensorDesc out, const Dims& dims, const Dims& from, const Dims& to);

/// See PlanReorder. Elements have whole bytes, or those of `from` and `to` are ones of oneDNN's.
PlannedStep plan_reorder(const TensorDesc& from, const TensorDesc& to, const CompileContext& context);

}  // namespace mlopt::cpu
