#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/data/reader.h"
#include "core/tensor/cast.h"

namespace mlopt {
namespace {

namespace fs = std::filesystem;

/// Samples first .. first + rows - 1: the arrays of one file, or of all .npy files of a folder.
struct Shard {
  std::vector<ArrayFile> arrays;
  std::optional<ArrayFile> label;
  int64_t first = 0, rows = 0;
  std::string where;
};

class ArraysReader final : public Reader {
 public:
  explicit ArraysReader(std::vector<Shard> shards) : shards_(std::move(shards)) {
    for (Shard& shard : shards_) {
      shard.first = size_;
      size_ += shard.rows;
    }
  }

  int64_t size() const override { return size_; }
  bool labelled() const override {
    return std::all_of(shards_.begin(), shards_.end(), [](const Shard& s) { return s.label.has_value(); });
  }
  std::string name_of(int64_t i) const override {
    const Shard& shard = shard_of(i);
    return fmt::format("{}, row {}", shard.where, i - shard.first);
  }
  std::optional<int64_t> class_of(int64_t i) const override {
    const Shard& shard = shard_of(i);
    if (!shard.label || !is_integer(shard.label->dtype()) || shard.label->dims().size() != 1) return std::nullopt;
    return to_ints(shard.label->row(i - shard.first))[0];
  }
  RawSample read(int64_t i) const override {
    const Shard& shard = shard_of(i);
    RawSample sample;
    for (const ArrayFile& array : shard.arrays) sample.arrays.emplace_back(array.name(), array.row(i - shard.first));
    if (shard.label) sample.label = shard.label->row(i - shard.first);
    return sample;
  }

 private:
  const Shard& shard_of(int64_t i) const {
    const auto after = std::upper_bound(shards_.begin(), shards_.end(), i,
                                        [](int64_t index, const Shard& shard) { return index < shard.first; });
    return *std::prev(after);
  }

  std::vector<Shard> shards_;
  int64_t size_ = 0;
};

/// Sorts the arrays into inputs and the label, and checks that all have the same number of rows.
Shard make_shard(std::vector<ArrayFile> arrays, const std::vector<InputSpec>& inputs, const std::string& where) {
  Shard shard;
  shard.where = where;
  const auto is_input = [&](const std::string& name) {
    return std::any_of(inputs.begin(), inputs.end(), [&](const InputSpec& input) { return input.name == name; });
  };
  std::vector<std::string> names;
  for (ArrayFile& array : arrays) {
    if (array.name() == "label" && !is_input("label")) {
      shard.label = std::move(array);
      continue;
    }
    names.push_back(array.name());
    shard.arrays.push_back(std::move(array));
  }
  require_names(names, inputs, where);
  shard.rows = shard.arrays.empty() ? 0 : shard.arrays[0].rows();
  const auto check_rows = [&](const ArrayFile& array) {
    if (array.rows() == shard.rows) return;
    input_error(
        fmt::format("'{}' has {} samples, '{}' has {}", array.name(), array.rows(), shard.arrays[0].name(), shard.rows),
        where, "the first axis of every array is the sample");
  };
  for (const ArrayFile& array : shard.arrays) check_rows(array);
  if (shard.label) check_rows(*shard.label);
  return shard;
}

constexpr int64_t kMostOthers = 100000;  // a folder of more that are no arrays is another than was meant

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  int64_t others = 0;
  std::error_code failure, ignored;
  fs::recursive_directory_iterator entry(folder, failure), end;
  for (; !failure && entry != end; entry.increment(failure)) {
    const fs::path extension = entry->path().extension();
    if (extension != ".npy" && extension != ".npz" && ++others > kMostOthers)
      input_error(fmt::format("more than {} files and folders in it are no arrays", kMostOthers), folder,
                  "give a folder of NAME.npy files, one for each input, or an .npz archive");
    if (entry->is_regular_file(ignored)) files.push_back(entry->path());
  }
  if (failure)
    input_error(fmt::format("cannot read the folder ({})", failure.message()), folder, "check its permissions");
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> with_extension(const std::vector<fs::path>& files, std::string_view extension) {
  std::vector<fs::path> chosen;
  for (const fs::path& file : files) {
    if (file.extension() == extension) chosen.push_back(file);
  }
  return chosen;
}

[[noreturn]] void no_arrays(const std::string& path, const std::vector<fs::path>& files) {
  for (const fs::path& file : files) {
    const std::string name = file.extension().string();
    if (name == ".jpg" || name == ".jpeg" || name == ".JPEG" || name == ".png") {
      input_error("the folder holds pictures, not arrays", path, fmt::format("write --data images:{}", path));
    }
  }
  input_error(files.empty() ? "the folder is empty" : "no .npy or .npz file in the folder", path,
              "give a folder of NAME.npy files, one for each input, or an .npz archive");
}

std::vector<ArrayFile> open_npy_files(const std::vector<fs::path>& files, const std::string& folder) {
  std::vector<ArrayFile> arrays;
  for (const fs::path& file : files) {
    const std::string name = file.lexically_relative(folder).replace_extension().string();
    arrays.emplace_back(name, open_source(file.string()));
  }
  return arrays;
}

}  // namespace

std::vector<ArrayFile> open_arrays(const std::string& path) {
  if (!is_folder(path)) {
    if (path.ends_with(".npz")) return open_npz(path);
    std::vector<ArrayFile> one;
    one.push_back(open_npy(path));
    return one;
  }
  const std::vector<fs::path> files = files_below(path);
  std::vector<ArrayFile> arrays = open_npy_files(with_extension(files, ".npy"), path);
  for (const fs::path& file : with_extension(files, ".npz")) {
    for (ArrayFile& array : open_npz(file.string())) arrays.push_back(std::move(array));
  }
  if (arrays.empty()) no_arrays(path, files);
  return arrays;
}

ReaderPtr arrays_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  std::vector<Shard> shards;
  if (!is_folder(spec.path)) {
    std::vector<ArrayFile> arrays = open_arrays(spec.path);
    // A single array has no name of its own.
    if (!spec.path.ends_with(".npz")) arrays[0].rename(only_input(inputs, spec.path).name);
    shards.push_back(make_shard(std::move(arrays), inputs, spec.path));
    return std::make_unique<ArraysReader>(std::move(shards));
  }
  const std::vector<fs::path> files = files_below(spec.path);
  const std::vector<fs::path> archives = with_extension(files, ".npz"), single = with_extension(files, ".npy");
  if (archives.empty() && single.empty()) no_arrays(spec.path, files);
  if (!single.empty()) shards.push_back(make_shard(open_npy_files(single, spec.path), inputs, spec.path));
  for (const fs::path& file : archives) shards.push_back(make_shard(open_npz(file.string()), inputs, file.string()));
  return std::make_unique<ArraysReader>(std::move(shards));
}

}  // namespace mlopt
