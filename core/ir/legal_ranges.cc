#include "core/ir/legal_ranges.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "core/tensor/cast.h"

namespace mlopt {
namespace {

/// A float operator's domain, away from its edges so that gradients and logarithms stay finite.
struct Domain {
  std::string_view op;
  int input;
  double low, high;
};
constexpr std::array kDomains = {
    Domain{"Log", 0, 0.1, 4},        Domain{"Sqrt", 0, 0, 4},
    Domain{"Reciprocal", 0, 0.5, 2}, Domain{"Div", 1, 0.5, 2},
    Domain{"Pow", 0, 0.1, 2},        Domain{"Acos", 0, -1, 1},
    Domain{"Asin", 0, -1, 1},        Domain{"Atanh", 0, -0.9, 0.9},
    Domain{"Acosh", 0, 1, 4},        Domain{"Mod", 1, 1, 4},
    Domain{"Bernoulli", 0, 0, 1},    Domain{"TopK", 1, 1, 1},
    Domain{"Reshape", 1, 1, 1},      Domain{"Expand", 1, 1, 1},
    Domain{"Tile", 1, 1, 1},         Domain{"ConstantOfShape", 0, 1, 4},
    Domain{"Loop", 0, 1, 4},         Domain{"Range", 2, 1, 1},
};

/// Input 4 has the lengths of sequences in input 0.
constexpr std::array<std::string_view, 3> kRecurrent = {"LSTM", "GRU", "RNN"};

/// An index into an axis of another input of the node.
struct IndexInto {
  std::string_view op;
  int input;
  int table;
};
constexpr std::array kIndices = {IndexInto{"Gather", 1, 0},
                                 IndexInto{"GatherElements", 1, 0},
                                 IndexInto{"EmbedLayerNormalization", 0, 2},
                                 IndexInto{"EmbedLayerNormalization", 1, 4},
                                 IndexInto{"QEmbedLayerNormalization", 0, 2},
                                 IndexInto{"QEmbedLayerNormalization", 1, 4},
                                 IndexInto{"GatherBlockQuantized", 1, 0}};

constexpr std::array<std::string_view, 9> kTransparent = {"Cast",    "Identity",  "Reshape", "Squeeze", "Unsqueeze",
                                                          "Flatten", "Transpose", "Expand",  "Slice"};

/// Narrows a range as the uses of a value tell.
class Narrowing {
 public:
  std::optional<ValueRange> range;

  /// `value` is the input plus `shift`.
  void follow(const Value& value, double shift) {
    if (!seen_.insert(&value).second || seen_.size() > kMost) return;
    for (const Use& use : value.uses) look(*use.node, use.index, shift);
  }

 private:
  static constexpr size_t kMost = 256;

  void narrow(double low, double high) {
    if (!range) range = ValueRange{.low = low, .high = high};
    const double new_low = std::max(range->low, low), new_high = std::min(range->high, high);
    if (new_low <= new_high) range->low = new_low, range->high = new_high;
  }

  void look(const Node& node, int index, double shift) {
    for (const IndexInto& into : kIndices) {
      if (into.op == node.op && into.input == index) narrow_to_table(node, into.table, shift);
    }
    const bool recurrent = std::find(kRecurrent.begin(), kRecurrent.end(), node.op) != kRecurrent.end();
    if (recurrent && index == 4) narrow_to_length(node);
    for (const Domain& domain : kDomains) {
      if (domain.op == node.op && domain.input == index) narrow(domain.low, domain.high);
    }
    if (node.is("OneHot") && index == 0) narrow_to_depth(node, shift);
    const bool same = std::find(kTransparent.begin(), kTransparent.end(), node.op) != kTransparent.end();
    if (same && index == 0 && node.output(0)) follow(*node.output(0), shift);
    if ((node.is("Add") || (node.is("Sub") && index == 0)) && node.output(0)) {
      const Value* other = node.input(1 - index);
      const Tensor* constant = other ? other->known_constant() : nullptr;
      if (!constant || constant->size() != 1 || constant->dtype() == DType::kString) return;
      const double step = number_at(*constant, 0);
      follow(*node.output(0), node.op == "Add" ? shift + step : shift - step);
    }
  }

  void narrow_to_table(const Node& node, int table, double shift) {
    const Value* data = node.input(table);
    if (!data || !data->type.dims || data->type.dims->empty()) return;
    const Attr* attr = node.attr("axis");
    const auto* given = attr ? std::get_if<int64_t>(&attr->value) : nullptr;
    const auto rank = static_cast<int64_t>(data->type.dims->size());
    int64_t axis = given ? *given : 0;
    if (axis < 0) axis += rank;
    if (axis < 0 || axis >= rank) return;
    const auto size = (*data->type.dims)[static_cast<size_t>(axis)].value();
    if (size && *size > 0) narrow(std::max(0.0, -shift), static_cast<double>(*size) - 1 - shift);
  }

  void narrow_to_depth(const Node& node, double shift) {
    const Tensor* depth = node.input(1) ? node.input(1)->known_constant() : nullptr;
    if (depth && depth->size() == 1) narrow(-shift, number_at(*depth, 0) - 1 - shift);
  }

  void narrow_to_length(const Node& node) {
    const Value* data = node.input(0);
    const Attr* attr = node.attr("layout");
    const auto* layout = attr ? std::get_if<int64_t>(&attr->value) : nullptr;
    const size_t axis = layout && *layout != 0 ? 1 : 0;
    if (!data || !data->type.dims || data->type.dims->size() <= axis) return;
    range = ValueRange{.low = 1, .high = 1, .high_dim = (*data->type.dims)[axis]};
  }

  std::set<const Value*> seen_;
};

bool name_has(const Value& value, std::string_view word) {
  std::string lower;
  for (const char c : value.name) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return lower.find(word) != std::string::npos;
}

/// Lengths known only by their name measure the second axis of the first input that has one ([batch, time, ...]).
std::optional<ValueRange> length_by_name(const Value& input) {
  const bool vector = input.type.dims && input.type.dims->size() <= 1;
  if (!vector || !is_integer(input.type.dtype) || !name_has(input, "len") || !input.graph) return std::nullopt;
  for (const Value* other : input.graph->inputs()) {
    if (other != &input && other->type.dims && other->type.dims->size() >= 2) {
      return ValueRange{.low = 1, .high = 1, .high_dim = (*other->type.dims)[1]};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<ValueRange> legal_range(const Value& input) {
  if (!input.type.is_tensor()) return std::nullopt;
  Narrowing narrowing;
  narrowing.follow(input, 0);
  if (narrowing.range) return narrowing.range;
  const DType type = input.type.dtype;
  if (type == DType::kBool || name_has(input, "mask")) return ValueRange{};
  if (auto length = length_by_name(input)) return length;
  if (is_integer(type) && bits(type) <= 8) {
    const double span = std::ldexp(1, bits(type));
    return is_signed(type) ? ValueRange{.low = -span / 2, .high = span / 2 - 1}
                           : ValueRange{.low = 0, .high = span - 1};
  }
  return std::nullopt;
}

}  // namespace mlopt
