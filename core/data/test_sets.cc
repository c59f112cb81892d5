#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/whole.h"

namespace mlopt {
namespace {

namespace fs = std::filesystem;

class TestSets final : public Dataset {
 public:
  TestSets(std::vector<std::string> folders, TestSetReader read)
      : folders_(std::move(folders)), read_(std::move(read)) {
    labelled_ = true;
    for (const std::string& folder : folders_) labelled_ = labelled_ && fs::exists(fs::path(folder) / "output_0.pb");
  }

  int64_t size() const override { return static_cast<int64_t>(folders_.size()); }
  int64_t batch_size() const override { return 1; }
  bool labelled() const override { return labelled_; }
  std::string name_of(int64_t i) const override { return folders_[static_cast<size_t>(i)]; }

  Batch batch(int64_t first, int64_t) const override {
    const std::string& folder = folders_[static_cast<size_t>(first)];
    Batch result;
    result.count = 1;
    result.inputs = read_(folder, false);
    if (!labelled_) return result;
    const std::vector<Datum> expected = read_(folder, true);
    if (!expected.empty() && expected[0].is_tensor()) result.labels = expected[0].tensor();
    return result;
  }

 private:
  std::vector<std::string> folders_;
  TestSetReader read_;
  bool labelled_ = false;
};

}  // namespace

std::vector<std::string> test_set_folders(const std::string& path) {
  std::error_code ignored;
  if (fs::exists(fs::path(path) / "input_0.pb", ignored) || fs::exists(fs::path(path) / "output_0.pb", ignored))
    return {path};
  std::map<int64_t, std::string> folders;
  for (fs::directory_iterator entry(path, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    constexpr std::string_view kPrefix = "test_data_set_";
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix) || !entry->is_directory(ignored)) continue;
    if (const auto index = parse_int(name.substr(kPrefix.size()))) folders[*index] = entry->path().string();
  }
  std::vector<std::string> ordered;
  for (auto& [index, folder] : folders) ordered.push_back(std::move(folder));
  return ordered;
}

std::unique_ptr<Dataset> test_sets(std::vector<std::string> folders, TestSetReader read) {
  if (folders.empty()) internal_error("no test data folders");
  return std::make_unique<TestSets>(std::move(folders), std::move(read));
}

}  // namespace mlopt
