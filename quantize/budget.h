#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mlopt::quantize {

/// What a model in mixed formats may take.
struct Budget {
  enum class Kind {
    kShare,  ///< of the source's bytes
    kBytes,  ///< of the whole model
    kBits,   ///< for each number of the weights that are stored so, scales and zero points among them
    kTime    ///< of a run, as a share of the source's
  };
  Kind kind = Kind::kShare;
  double amount = 0;
};

/// "size" with "40%" or "30M", "bits" with "4.5", "latency" with "0.6x". Throws Error{kUsage} for what is none.
Budget parse_budget(std::string_view key, std::string_view value);
/// As parse_budget() takes it: "size=40%".
std::string to_string(const Budget& budget);

}  // namespace mlopt::quantize
