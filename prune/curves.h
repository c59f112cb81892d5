#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mlopt::prune {

/// What pruning a share of one layer, or of one group of coupled channels, alone does.
struct CurvePoint {
  double share = 0;
  double loss = 0;  ///< of quality, in any unit
  double macs = 0;  ///< saved, as a share of the model's
  double time = 0;  ///< of a run saved, likewise; 0 where it was not measured
};

struct Curve {
  std::string name;                ///< as in Spec::shares
  double size = 0;                 ///< channels, or weights
  std::vector<CurvePoint> points;  ///< by share, from above 0 on
};

/// The share of each layer or group by its name.
using Shares = std::vector<std::pair<std::string, double>>;

/// What is to be saved: of Curve::size, of the multiply-accumulates, or of the time.
enum class Saving { kSize, kMacs, kTime };

/// The shares of all curves that lose least in all while `wanted` (0 to 1) of what all could save is saved, as far as
/// losses add up: the steps of all curves, made convex, are taken in the order of what they lose for what they save,
/// the last in part. Beyond its last point a curve is taken to lose as much again up to 1.
Shares shares_of_least_loss(std::span<const Curve> curves, Saving saving, double wanted);

/// What one curve saves with all of it gone.
double saved_by_all(const Curve& curve, Saving saving);

/// That of a name; nothing where it has none.
std::optional<double> share_of(const Shares& shares, const std::string& name);
/// Throws Error{kUsage} for a share of none of the names.
void check_names(const Shares& shares, const std::vector<std::string>& names);

/// Names of these layers, told apart: the second "a" is "a#2".
std::vector<std::string> told_apart(std::vector<std::string> names);

}  // namespace mlopt::prune
