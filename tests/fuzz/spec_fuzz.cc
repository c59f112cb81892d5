#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.h"
#include "core/data/random.h"
#include "core/data/spec.h"

// A data spec that parses is printed and parsed back to itself; anything else is an Error of usage, never a crash. The
// first byte chooses between the spec and the options of random inputs.

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void try_spec(std::string_view text) {
  const mlopt::DataSpec spec = mlopt::parse_data_spec(text);
  check(mlopt::parse_data_spec(mlopt::print(spec)) == spec);
}

void try_random(std::string_view text) {
  mlopt::InputSpec input;
  input.name = "x";
  input.dims = {mlopt::Dim::symbol("batch"), mlopt::Dim(3), mlopt::Dim::symbol(std::string(text.substr(0, 8)))};
  mlopt::RandomOptions options;
  options.distinct = true;
  const size_t cut = text.find('\n');
  add_shape(options, std::string(text.substr(0, cut)));
  if (cut != std::string_view::npos) add_range(options, std::string(text.substr(cut + 1)));
  check(mlopt::concrete_shapes({input}, options).size() == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    data[0] % 2 == 0 ? try_spec(text) : try_random(text);
  } catch (const mlopt::Error& error) {
    check(error.code == mlopt::Code::kUsage || error.code == mlopt::Code::kUnsupported ||
          error.code == mlopt::Code::kBadInput);
  }
  return 0;
}
