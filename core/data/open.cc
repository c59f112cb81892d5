#include "core/data/open.h"

#include <filesystem>

#include "core/base/error.h"
#include "core/data/pipeline.h"
#include "core/data/reader.h"

namespace mlopt {
namespace {

struct Maker {
  DataKind kind;
  ReaderPtr (*make)(const DataSpec&, const std::vector<InputSpec>&);
};
constexpr Maker kMakers[] = {{DataKind::kArrays, arrays_reader}, {DataKind::kImages, images_reader},
                             {DataKind::kIdx, idx_reader},       {DataKind::kCsv, csv_reader},
                             {DataKind::kBytes, bytes_reader},   {DataKind::kText, text_reader}};

void require_existing(const std::string& path) {
  std::error_code ignored;
  if (!path.empty() && !std::filesystem::exists(path, ignored))
    input_error("no such file or folder", path, "check the path in --data");
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const DataSpec& spec, const std::vector<InputSpec>& inputs,
                                      const DataOptions& options) {
  if (spec.kind == DataKind::kRandom) {
    RandomOptions random = options.random;
    random.count = spec.count.value_or(random.count);
    return random_dataset(inputs, random);
  }
  require_existing(spec.path);
  require_existing(spec.labels);
  require_existing(spec.vocab);
  if (spec.kind == DataKind::kArrays) {
    std::vector<std::string> folders = test_set_folders(spec.path);
    if (!folders.empty() && options.read_test_set) return test_sets(std::move(folders), options.read_test_set);
    if (options.whole) return whole_arrays(spec, inputs);
  }
  for (const Maker& maker : kMakers) {
    if (maker.kind == spec.kind) return make_pipeline(maker.make(spec, inputs), spec, inputs, options.random.seed);
  }
  internal_error("a kind of data without a reader", print(spec));
}

}  // namespace mlopt
