#include "quantize/falling_bits.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace mlopt::quantize {
namespace {

constexpr int kMost = 8;

/// Are there formats of more bits that are like it otherwise?
bool has_widths(const WeightFormat& f) {
  return f.family == Family::kUniform || f.family == Family::kCodebook || f.family == Family::kPower ||
         f.family == Family::kAdditivePower;
}

WeightFormat raised(WeightFormat format, int bits) {
  if (has_widths(format)) format.bits = std::max(format.bits, bits);
  return format;
}

int least_bits(const Spec& spec) {
  int least = has_widths(spec.weights) ? spec.weights.bits : kMost;
  for (const auto& [layer, format] : spec.plan)
    if (has_widths(format)) least = std::min(least, format.bits);
  return least;
}

}  // namespace

FallingBits::FallingBits(const Model& model, const Spec& spec, int64_t updates)
    : model_(clone(model)), spec_(spec), updates_(updates), least_(least_bits(spec)) {
  if (spec.format != Format::kWeights || least_ >= kMost)
    usage_error(name(spec) + " has no widths that could fall to it", "--qat-schedule",
                "leave it out, or choose weights alone in fewer than 8 bits, such as w2, codebook3 or mixed:bits=4");
  names_ = WeightRounding(model_, spec_).names();
}

int FallingBits::bits_at(int64_t update, int64_t updates, int least) {
  const int falls = kMost - least;
  const double period = static_cast<double>(updates) / 4 / (std::exp2(falls) - 1);  // that of 8 bits
  int fallen = 0;
  while (fallen < falls && static_cast<double>(update) >= period * (std::exp2(fallen + 1) - 1)) ++fallen;
  return kMost - fallen;
}

WeightRounding& FallingBits::at(int64_t update) {
  const int bits = bits_at(update, updates_, least_);
  if (bits == bits_) return *rounding_;
  bits_ = bits;
  Spec spec = spec_;
  spec.weights = raised(spec.weights, bits);
  for (auto& [layer, format] : spec.plan) format = raised(format, bits);
  spec.emit = Emit::kFake;  // whether a width saves bytes is of no interest on the way
  rounding_ = std::make_unique<WeightRounding>(model_, spec);
  rounding_->keep(names_);
  return *rounding_;
}

}  // namespace mlopt::quantize
