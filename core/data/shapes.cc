#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/checked.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/fit.h"
#include "core/data/random.h"

namespace mlopt {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 32;

std::array<std::string, 2> name_and_value(const std::string& option, const std::string& text, const char* example) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    usage_error(fmt::format("'{}' is no value for {}", text, option), {},
                fmt::format("for example {} {}", option, example));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

std::string identifier_at(std::string_view text, size_t at) {
  size_t end = at;
  const auto word = [](char c) {
    return c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  while (end < text.size() && word(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

/// Sums, differences and products of integers and symbols of known size, from left to right with products first;
/// nothing when a symbol is not known or the text is something else.
std::optional<int64_t> evaluate(std::string_view text, const std::map<std::string, int64_t>& sizes) {
  int64_t sum = 0, product = 0, sign = 1;
  bool times = false, operand = true;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == ' ') {
      ++at;
    } else if (!operand && (c == '+' || c == '-' || c == '*')) {
      times = c == '*';
      if (!times) {
        sum += sign * product;
        sign = c == '+' ? 1 : -1;
      }
      operand = true;
      ++at;
    } else {
      const std::string word = identifier_at(text, at);
      const auto known = sizes.find(word);
      const auto value = known != sizes.end() ? std::optional(known->second) : parse_int(word);
      if (!operand || word.empty() || !value) return std::nullopt;
      const auto scaled = checked_mul(times ? product : 1, *value);
      if (!scaled || *scaled > kMaxElements || *scaled < 0) return std::nullopt;
      product = *scaled;
      operand = false;
      at += word.size();
    }
  }
  return operand ? std::nullopt : std::optional(sum + sign * product);
}

/// Hands out sizes for free dimensions.
class Sizes {
 public:
  explicit Sizes(const RandomOptions& options) : options_(options) {}

  std::map<std::string, int64_t> known;

  int64_t of(const Dim& dim, size_t axis, size_t rank) {
    if (const auto value = dim.value()) return *value;
    if (!dim.known()) return fresh(axis, rank);
    const std::string symbol = dim.str();
    const auto found = known.find(symbol);
    if (found != known.end()) return found->second;
    if (const auto value = evaluate(symbol, known)) return *value;
    return known[symbol] = at_least(symbol, fresh(axis, rank));
  }

 private:
  /// Distinct sizes: small for batches, multiples of 32 for the sides of pictures, primes for all else.
  int64_t fresh(size_t axis, size_t rank) {
    if (axis == 0 && options_.batch > 0) return options_.batch;
    if (!options_.distinct) return 1;
    if (rank >= 4 && axis + 2 >= rank) return 32 * (2 + sides_++);
    constexpr int64_t kPrimes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    return kPrimes[std::min<size_t>(others_++, std::size(kPrimes) - 1)];
  }

  int64_t at_least(const std::string& symbol, int64_t size) const {
    const auto least = options_.least.find(symbol);
    if (least == options_.least.end() || size >= least->second) return size;
    return options_.distinct ? least->second + size : least->second;
  }

  const RandomOptions& options_;
  int64_t sides_ = 0;
  size_t others_ = 0;
};

bool is_sum(const Dim& dim) {
  return dim.known() && !dim.value() && dim.str().find_first_of("+-*") != std::string::npos;
}

bool takes_batch(const InputSpec& input, const RandomOptions& options) {
  return options.batch > 0 && !input.dims.empty() && !input.dims[0].value() && !is_sum(input.dims[0]);
}

/// A given shape fixes the symbols that stand in the model's.
void fix_symbols(const InputSpec& input, const Dims& dims, Sizes& sizes) {
  if (!fits(dims, input.dims)) {
    usage_error(
        fmt::format("--shape {}={} does not fit the model's input {}", input.name, to_string(dims), to_string({input})),
        {}, "give as many dimensions, and the same where the model has a number");
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto symbol = input.dims[d].symbol_name();
    if (!symbol) continue;
    const auto [at, fresh] = sizes.known.emplace(*symbol, dims[d]);
    if (!fresh && at->second != dims[d]) {
      usage_error(fmt::format("--shape: '{}' would be {} and {}", *symbol, at->second, dims[d]), input.name,
                  "give equal sizes");
    }
  }
}

}  // namespace

void check_given_names(const std::vector<InputSpec>& inputs, const RandomOptions& options) {
  std::vector<std::string> names, symbols;
  for (const InputSpec& input : inputs) {
    names.push_back(input.name);
    for (const Dim& dim : input.dims) {
      if (const auto symbol = dim.symbol_name()) symbols.push_back(*symbol);
    }
  }
  std::vector<std::string> shapes = names;
  shapes.insert(shapes.end(), symbols.begin(), symbols.end());
  for (const auto& [name, dims] : options.shapes) {
    if (std::find(shapes.begin(), shapes.end(), name) != shapes.end()) continue;
    usage_error(fmt::format("--shape: the model has no input and no free dimension '{}'", name), {},
                suggestion(name, shapes));
  }
  for (const auto& [name, range] : options.ranges) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    usage_error(fmt::format("--range: the model has no input '{}'", name), {}, suggestion(name, names));
  }
}

void add_shape(RandomOptions& options, const std::string& text) {
  const auto [name, value] = name_and_value("--shape", text, "input=1x3x224x224");
  Dims dims;
  for (const std::string& piece : split(value, value.find(',') != std::string::npos ? ',' : 'x')) {
    const auto size = parse_int(piece);
    if (!size || *size < 0)
      usage_error(fmt::format("'{}' is no dimension", piece), "--shape " + text, "for example --shape x=1x3x224x224");
    dims.push_back(*size);
  }
  options.shapes[name] = std::move(dims);
}

void add_range(RandomOptions& options, const std::string& text) {
  const auto [name, value] = name_and_value("--range", text, "input=0:255");
  const std::vector<std::string> ends = split(value, ':');
  const auto low = ends.size() == 2 ? parse_double(ends[0]) : std::nullopt;
  const auto high = ends.size() == 2 ? parse_double(ends[1]) : std::nullopt;
  if (!low || !high || !(*low <= *high) || !std::isfinite(*high - *low))
    usage_error(fmt::format("'{}' is no range", value), "--range " + text, "for example --range x=0:255");
  options.ranges[name] = {*low, *high};
}

std::vector<Dims> concrete_shapes(const std::vector<InputSpec>& inputs, const RandomOptions& options) {
  check_given_names(inputs, options);
  Sizes sizes(options);
  std::map<std::string, Dims> given;
  for (const auto& [name, dims] : options.shapes) {
    if (dims.size() == 1) sizes.known[name] = dims[0];
  }
  for (const InputSpec& input : inputs) {
    const auto shape = options.shapes.find(input.name);
    if (shape == options.shapes.end()) continue;
    Dims dims = shape->second;
    if (takes_batch(input, options) && !dims.empty() && dims[0] == 1) dims[0] = options.batch;  // the shape of a sample
    fix_symbols(input, dims, sizes);
    given[input.name] = std::move(dims);
  }
  if (options.batch == 0) sizes.known.insert(options.sizes.begin(), options.sizes.end());
  // Plain symbols get their sizes before the sums that follow from them.
  for (const InputSpec& input : inputs) {
    for (size_t d = 0; d < input.dims.size(); ++d) {
      if (!is_sum(input.dims[d])) sizes.of(input.dims[d], d, input.dims.size());
    }
  }
  std::vector<Dims> shapes;
  for (const InputSpec& input : inputs) {
    const auto shape = given.find(input.name);
    Dims dims = shape != given.end() ? shape->second : Dims{};
    if (shape == given.end()) {
      for (size_t d = 0; d < input.dims.size(); ++d) dims.push_back(sizes.of(input.dims[d], d, input.dims.size()));
    }
    if (takes_batch(input, options) && dims[0] != options.batch) {
      usage_error(fmt::format("the input would be {}, which is no batch of {}", to_string(dims), options.batch),
                  input.name, "give --shape the size of one sample, or leave out --batch");
    }
    if (element_count(dims) > kMaxElements) {
      input_error(fmt::format("the input would have {} elements", element_count(dims)), input.name,
                  "give a smaller --shape");
    }
    shapes.push_back(std::move(dims));
  }
  return shapes;
}

}  // namespace mlopt
