#include <fmt/core.h>

#include <exception>
#include <string>
#include <vector>

#include "core/base/cpus.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/onnx/io.h"
#include "samples/quickstart/network.h"
#include "samples/quickstart/pictures.h"
#include "samples/quickstart/summary.h"

namespace {

using namespace mlopt;
using namespace mlopt::quickstart;

// Sets of pictures with different seeds have none in common.
constexpr uint64_t kTrainSeed = 1, kTestSeed = 2, kNetworkSeed = 3;
constexpr int64_t kTrainPictures = 4000, kTestPictures = 2000;

void make(const std::string& folder, int64_t train_count, int64_t test_count) {
  write_idx(draw_pictures(train_count, kTrainSeed), folder, "train");
  write_idx(draw_pictures(test_count, kTestSeed), folder, "test");
  write_model(make_network(kNetworkSeed), folder + "/untrained.onnx");
}

int64_t count_of(const std::vector<std::string>& args, size_t index, int64_t fallback) {
  if (index >= args.size()) return fallback;
  const auto count = parse_int(args[index]);
  if (!count || *count < 10) usage_error(fmt::format("'{}' is no count of pictures", args[index]));
  return *count;
}

int run(const std::vector<std::string>& args) {
  if (args.size() >= 2 && args.size() <= 4 && args[0] == "make") {
    const int64_t train = count_of(args, 2, kTrainPictures), test = count_of(args, 3, kTestPictures);
    with_threads(available_cpus(), [&] { make(args[1], train, test); });
    return 0;
  }
  if (args.size() == 2 && args[0] == "summary") {
    print_summary(args[1]);
    return 0;
  }
  fmt::print(stderr,
             "sample_quickstart make FOLDER [TRAIN TEST]   draws so many pictures, and makes untrained.onnx\n"
             "sample_quickstart summary FOLDER             one table from the reports in the folder\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return 1;
}
