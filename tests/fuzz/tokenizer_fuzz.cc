#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/data/tokenizer.h"

// A vocabulary of any bytes gives an Error of bad input or a tokenizer whose ids are all in range, whatever the text.
// The first byte says how many of the bytes are the text.

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void tokenize(const std::string& path, std::string_view text) {
  const mlopt::Tokenizer tokenizer = mlopt::open_tokenizer(path);
  for (const std::string_view part : {text, std::string_view("a b\xc3\xa9 <unk> 12")}) {
    const mlopt::TokenRow row = mlopt::token_row(tokenizer, part, 32);
    check(row.ids.size() == 32);
    for (const int64_t id : row.ids) check(id >= 0 && id < tokenizer.size);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t text = std::min<size_t>(data[0], all.size());
  const std::string path =
      (std::filesystem::temp_directory_path() / ("mlopt_tokenizer_fuzz_" + std::to_string(::getpid()))).string();
  std::ofstream(path, std::ios::binary).write(all.data() + text, static_cast<std::streamsize>(all.size() - text));
  try {
    tokenize(path, all.substr(0, text));
  } catch (const mlopt::Error& error) {
    check(error.code == mlopt::Code::kBadInput || error.code == mlopt::Code::kUnsupported);
  }
  return 0;
}
