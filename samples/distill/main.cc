#include <fmt/core.h>

#include <exception>
#include <string>

#include "core/onnx/io.h"
#include "samples/distill/spiral.h"

namespace {

using namespace mlopt;

void make(const std::string& folder) {
  write_npz(folder + "/train.npz", spiral::points(3000, 1, true));
  write_npz(folder + "/few.npz", spiral::points(30, 2, true));
  write_npz(folder + "/unlabelled.npz", spiral::points(3000, 3, false));
  write_npz(folder + "/test.npz", spiral::points(1000, 4, true));
  write_model(spiral::network(48, 6), folder + "/deep.onnx");
  write_model(spiral::network(16, 2), folder + "/small.onnx");
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      fmt::print(stderr, "sample_distill FOLDER   draws points on a spiral and makes deep.onnx and small.onnx\n");
      return 2;
    }
    make(argv[1]);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
