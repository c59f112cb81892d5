#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/desc.h"

namespace mlopt {

/// What a step of a plan does, and how.
struct StepInfo {
  std::string node;  ///< the name of its node; empty: a copy that the plan adds
  std::string op, kernel;
  std::vector<std::string> nodes = {};  ///< "Conv 'stem'": those of the model whose work it does
  std::string layout = {};              ///< of output 0: "nhwc", "row-major"; empty where it is known only at run time
  bool integer = false;                 ///< multiplies integers of 8 bits
  bool inner = false;                   ///< of a body: the time of the node that has the body includes it
  // Of one run; nothing where the shapes are known only then.
  std::optional<int64_t> macs = {};
  std::optional<int64_t> bytes = {};  ///< read and written: inputs, weights and outputs, each once
};

/// Where an output of a step lies.
struct PlaceInfo {
  enum class Home { kArena, kInput, kOutput, kConstant, kOutside };
  std::string value;
  std::optional<TensorDesc> desc = {};  ///< nothing: known only at run time
  Home home = Home::kOutside;           ///< kOutside: a tensor of its own that a step makes when it runs
  size_t offset = 0;                    ///< in the arena, else in the tensor `of` or in its own
  std::string of = {};                  ///< the value whose memory it shares; empty: it has its own
};

struct PlanStepInfo : StepInfo {
  bool planned = true;    ///< false: outside of the plan, it runs on whatever comes
  bool view = false;      ///< nothing runs: its outputs lie in its input
  bool in_place = false;  ///< output 0 takes the memory of an input
  size_t scratch_bytes = 0;
  size_t packed_bytes = 0;  ///< of weights in a form of the kernel's own
  std::vector<PlaceInfo> out = {};
};

/// A plan for one signature of inputs, in the order in which it runs.
struct PlanInfo {
  std::vector<PlanStepInfo> steps = {};
  int64_t folded_nodes = 0;   ///< of the model as the backend prepared it: their results are constants
  size_t arena_bytes = 0;     ///< of one run, like
  size_t scratch_bytes = 0;   ///< what steps need while they run, which they share
  size_t packed_bytes = 0;    ///< of all weights in forms of the kernels' own, each once
  size_t constant_bytes = 0;  ///< of constants that steps read as they are
};

}  // namespace mlopt
