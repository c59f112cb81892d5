#include <fmt/core.h>

#include <exception>
#include <fstream>
#include <string>

#include "core/onnx/io.h"
#include "samples/llm/decoder.h"

namespace {

using namespace mlopt;

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

void make(const std::string& folder) {
  write(folder + "/train.txt", stories::text(6000, 1));
  write(folder + "/test.txt", stories::text(400, 2));
  write_model(stories::decoder({}, 3), folder + "/random.onnx");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      fmt::print(stderr, "sample_llm FOLDER   writes stories, train.txt and test.txt, and a decoder, random.onnx\n");
      return 2;
    }
    make(argv[1]);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
