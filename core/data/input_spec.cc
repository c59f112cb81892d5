#include "core/data/input_spec.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/reader.h"

namespace mlopt {

std::string to_string(const std::vector<InputSpec>& inputs) {
  std::vector<std::string> texts;
  for (const InputSpec& input : inputs) {
    texts.push_back(input.tensor ? fmt::format("'{}' {}{}", input.name, name(input.dtype), to_string(input.dims))
                                 : fmt::format("'{}' (not a tensor)", input.name));
  }
  return texts.empty() ? "none" : join(texts, ", ");
}

void require_names(const std::vector<std::string>& given, const std::vector<InputSpec>& inputs,
                   const std::string& where) {
  std::vector<std::string> wanted, missing, left;
  for (const InputSpec& input : inputs) wanted.push_back(input.name);
  const auto absent_from = [](const std::vector<std::string>& from, const std::vector<std::string>& in) {
    std::vector<std::string> absent;
    for (const std::string& n : from) {
      if (std::find(in.begin(), in.end(), n) == in.end()) absent.push_back(n);
    }
    return absent;
  };
  missing = absent_from(wanted, given);
  left = absent_from(given, wanted);
  if (missing.empty() && left.empty()) return;
  const std::string what = fmt::format("the data are for other inputs: the model takes {}; the data hold '{}'",
                                       to_string(inputs), join(given, "', '"));
  const std::string fix = missing.empty() ? fmt::format("leave out '{}'", join(left, "', '"))
                                          : fmt::format("name an array '{}'", join(missing, "', '"));
  input_error(what, where, fix);
}

const InputSpec& only_input(const std::vector<InputSpec>& inputs, const std::string& where) {
  if (inputs.size() != 1) {
    input_error(fmt::format("the data give one unnamed input; the model takes {}", to_string(inputs)), where,
                "give an .npz archive with an array for each input");
  }
  return inputs[0];
}

}  // namespace mlopt
