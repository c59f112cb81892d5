#include "quantize/weight_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "core/base/error.h"
#include "core/base/text.h"
#include "quantize/nonuniform/tables.h"

namespace mlopt::quantize {
namespace {

struct FamilyRow {
  std::string_view name;  ///< the width follows where there is more than one
  Family family;
  int least_bits, most_bits;
  int64_t group;  ///< where none is named
  std::vector<float> (*table)(int bits);
};
constexpr FamilyRow kFamilies[] = {
    {"w", Family::kUniform, 1, 8, 0, nullptr},
    {"nf4", Family::kNF4, 4, 4, 64, [](int) { return nf4_table(); }},
    {"fp4", Family::kFP4, 4, 4, 64, [](int) { return fp4_table(); }},
    {"fp8e4m3", Family::kF8E4M3, 8, 8, 0, [](int) { return float8_table(DType::kF8E4M3FN); }},
    {"fp8e5m2", Family::kF8E5M2, 8, 8, 0, [](int) { return float8_table(DType::kF8E5M2); }},
    {"pot", Family::kPower, 2, 8, 0, power_table},
    {"apot", Family::kAdditivePower, 2, 8, 0, additive_power_table},
    {"ternary", Family::kTernary, 2, 2, 0, power_table},
    {"codebook", Family::kCodebook, 2, 8, 0, nullptr},
    {"codebook", Family::kVectors, 2, 8, 0, nullptr}};
constexpr int64_t kLeastVector = 2, kMostVector = 8;

constexpr std::string_view kChannel = "channel";

const FamilyRow& row_of(Family family) {
  return *std::find_if(std::begin(kFamilies), std::end(kFamilies),
                       [&](const FamilyRow& row) { return row.family == family; });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_group(std::string_view text) { return text.size() > 1 && text[0] == 'g' && parse_int(text.substr(1)); }

/// Digits, one at least, in the front of `text`, which loses them.
int take_width(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const auto width = parse_int(text.substr(0, std::min<size_t>(count, 4)));
  text.remove_prefix(count);
  return static_cast<int>(*width);
}

void check_vector(const WeightFormat& format, std::string_view text) {
  if (format.vector < kLeastVector || format.vector > kMostVector)
    usage_error(fmt::format("'{}' has vectors of a length that there is not", text), {},
                fmt::format("codebook8v{} to codebook8v{}", kLeastVector, kMostVector));
  if (format.group != 0)
    usage_error(fmt::format("'{}' has groups, and vectors are the same for all", text), {}, "leave the group out");
}

std::optional<WeightFormat> parse_as(const FamilyRow& row, std::string_view text) {
  if (!text.starts_with(row.name)) return std::nullopt;
  std::string_view rest = text.substr(row.name.size());
  WeightFormat format{row.family, row.least_bits, row.group};
  const bool has_widths = row.least_bits < row.most_bits;
  if (has_widths && (rest.empty() || !is_digit(rest[0]))) return std::nullopt;
  if (has_widths) format.bits = take_width(rest);
  if (row.family == Family::kCodebook && rest.size() > 1 && rest[0] == 'v' && is_digit(rest[1])) {
    rest.remove_prefix(1);
    format.family = Family::kVectors;
    format.vector = take_width(rest);
  }
  if (!rest.empty() && rest != kChannel && !is_group(rest)) return std::nullopt;
  if (format.bits < row.least_bits || format.bits > row.most_bits)
    usage_error(fmt::format("'{}' has no width that there is", text), {},
                fmt::format("{}{} to {}{}", row.name, row.least_bits, row.name, row.most_bits));
  if (rest == kChannel) format.group = 0;
  if (is_group(rest)) format.group = *parse_int(rest.substr(1));
  if (format.group < 0 || format.group == 1 || (format.group == 0 && is_group(rest)))
    usage_error(fmt::format("a group of '{}' holds less than two numbers", text), {}, "w4g32 has groups of 32");
  if (format.family == Family::kVectors) check_vector(format, text);
  return format;
}

}  // namespace

std::optional<WeightFormat> parse_weight_format(std::string_view text) {
  for (const FamilyRow& row : kFamilies)
    if (const auto format = parse_as(row, text)) return format;
  return std::nullopt;
}

std::string to_string(const WeightFormat& format) {
  const FamilyRow& row = row_of(format.family);
  std::string text(row.name);
  if (row.least_bits < row.most_bits) text += std::to_string(format.bits);
  if (format.family == Family::kVectors) text += fmt::format("v{}", format.vector);
  if (format.group == row.group) return text;
  return text + (format.group == 0 ? std::string(kChannel) : fmt::format("g{}", format.group));
}

std::vector<std::string> weight_format_names() {
  return {"w8",    "w4",        "w4g32",     "w4g64",     "w4g128",    "w3",         "w3g32",   "w2",
          "w2g32", "w1",        "ternary",   "nf4",       "fp4",       "fp8e4m3",    "fp8e5m2", "pot4",
          "apot4", "codebook2", "codebook3", "codebook4", "codebook8", "codebook8v4"};
}

Scheme scheme_of(const WeightFormat& format, bool per_tensor, bool symmetric) {
  constexpr int kByte = 8;
  Scheme scheme;
  scheme.bits = format.bits;
  scheme.group = per_tensor ? 0 : format.group;
  scheme.per_tensor = per_tensor;
  const FamilyRow& row = row_of(format.family);
  if (format.family == Family::kCodebook) {
    scheme.levels = Levels::kCodebook;
  } else if (format.family == Family::kVectors) {
    scheme.levels = Levels::kVectors;
    scheme.vector = format.vector;
  } else if (row.table || format.bits == 1) {
    scheme.levels = Levels::kTable;
    scheme.table = row.table ? row.table(format.bits) : binary_table();
  } else {
    scheme.symmetric = symmetric || format.bits == kByte;
  }
  return scheme;
}

}  // namespace mlopt::quantize
