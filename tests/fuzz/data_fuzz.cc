#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "core/base/error.h"
#include "core/data/array_file.h"
#include "core/data/open.h"
#include "core/data/picture.h"
#include "core/data/tar.h"

// Files of data: whatever their bytes, reading ends with samples or with an Error. The first byte chooses the format.

namespace {

mlopt::InputSpec any_input() {
  mlopt::InputSpec input;
  input.name = "x";
  input.dims = {mlopt::Dim::symbol("N"), mlopt::Dim::symbol("M")};
  return input;
}

void read_samples(const std::string& spec) {
  const auto data = mlopt::open_dataset(mlopt::parse_data_spec(spec), {any_input()}, {});
  for (int64_t i = 0; i < data->size() && i < 4; ++i) data->batch(i, 1);
}

void read(int format, const std::string& path) {
  const auto bytes = [&] { return mlopt::read_all(*mlopt::open_source(path)); };
  switch (format) {
    case 0:
      mlopt::read_npz(path);
      break;
    case 1:
      mlopt::open_npy(path).whole();
      break;
    case 2:
      mlopt::read_tar(*mlopt::open_source(path));
      break;
    case 3:
      read_samples("csv:" + path);
      break;
    case 4:
      read_samples("idx:" + path);
      break;
    case 5: {
      const std::string file = bytes();
      mlopt::decode_picture(std::as_bytes(std::span(file)), path);
      break;
    }
    default:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string path =
      (std::filesystem::temp_directory_path() / ("mlopt_data_fuzz_" + std::to_string(::getpid()))).string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data) + 1, static_cast<std::streamsize>(size - 1));
  try {
    read(data[0] % 6, path);
  } catch (const mlopt::Error&) {
  }
  return 0;
}
