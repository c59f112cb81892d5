#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/labels.h"
#include "core/data/reader.h"
#include "core/data/tar.h"

namespace mlopt {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxFile = int64_t{1} << 30;
constexpr int kMaxDepth = 8;  // folders in folders

bool is_picture(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

/// What a file manager, a version control or an archiver keeps beside the data.
bool is_hidden(const fs::path& path) {
  return std::any_of(path.begin(), path.end(), [](const fs::path& part) {
    const std::string name = part.string();
    return name == "__MACOSX" || (name.starts_with('.') && name != "..");
  });
}

/// Pictures in a folder (paths inside it) or in a tar archive, sorted by path.
class Pictures {
 public:
  explicit Pictures(const std::string& path) : path_(path) {
    fs::is_directory(path) ? list_folder() : list_archive();
    if (entries_.empty())
      input_error("no JPEG or PNG file", path, "give a folder of pictures, or of one folder for each class");
    std::sort(entries_.begin(), entries_.end(), [](const TarEntry& a, const TarEntry& b) { return a.path < b.path; });
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> all;
    for (const TarEntry& entry : entries_) all.push_back(entry.path);
    return all;
  }

  const std::set<std::string>& folders() const { return folders_; }

  Source open(size_t i) const {
    const TarEntry& entry = entries_[i];
    if (!archive_) return open_source((fs::path(path_) / entry.path).string());
    return part_of(archive_, entry.offset, entry.size, fmt::format("{}, {}", path_, entry.path));
  }

 private:
  void list_folder() {
    std::error_code failure;
    fs::recursive_directory_iterator entry(path_, fs::directory_options::follow_directory_symlink, failure), end;
    for (; !failure && entry != end; entry.increment(failure)) {
      const std::string name = entry->path().lexically_relative(path_).string();
      if (is_hidden(entry->path().filename()) || entry.depth() >= kMaxDepth) {
        entry.disable_recursion_pending();  // a link may lead back up
        continue;
      }
      std::error_code ignored;
      if (entry->is_directory(ignored)) folders_.insert(name);
      if (is_picture(name) && entry->is_regular_file(ignored)) entries_.push_back({name, 0, 0});
    }
    if (failure)
      input_error(fmt::format("cannot read the folder ({})", failure.message()), path_, "check its permissions");
  }

  void list_archive() {
    archive_ = open_source(path_);
    for (TarEntry& entry : read_tar(*archive_)) {
      const fs::path path = fs::path(entry.path).lexically_normal().relative_path();
      entry.path = path.string();
      if (is_hidden(path)) continue;
      if (path.has_parent_path()) folders_.insert(path.parent_path().string());
      if (is_picture(entry.path)) entries_.push_back(std::move(entry));
    }
  }

  std::string path_;
  Source archive_;
  std::vector<TarEntry> entries_;
  std::set<std::string> folders_;
};

class ImagesReader final : public Reader {
 public:
  ImagesReader(const std::string& path, const std::string& labels)
      : path_(path), pictures_(path), paths_(pictures_.paths()) {
    const std::string beside = (fs::path(path) / "labels.tsv").string();
    if (!labels.empty()) {
      use_table(labels);
    } else if (fs::is_regular_file(beside)) {
      use_table(beside);
    } else if (auto classes = classes_by_folder(paths_, pictures_.folders(), path_)) {
      classes_ = std::move(*classes);
    }
  }

  int64_t size() const override { return static_cast<int64_t>(paths_.size()); }
  bool labelled() const override { return !classes_.empty(); }
  std::string name_of(int64_t i) const override { return fmt::format("{}, {}", path_, paths_[static_cast<size_t>(i)]); }
  std::optional<int64_t> class_of(int64_t i) const override {
    return classes_.empty() ? std::nullopt : std::optional(classes_[static_cast<size_t>(i)]);
  }

  RawSample read(int64_t i) const override {
    const std::string name = name_of(i);
    const Source file = pictures_.open(static_cast<size_t>(i));
    if (file->size() > kMaxFile) input_error("the picture's file is larger than 1 GB", name, "take it out of the data");
    const std::string bytes = read_all(*file);
    RawSample sample;
    sample.picture = decode_picture(std::as_bytes(std::span(bytes)), name);
    if (labelled()) sample.label = Tensor::scalar(*class_of(i));
    return sample;
  }

 private:
  /// The table names files by their path inside the data, or by the last part of it.
  void use_table(const std::string& table) {
    const std::map<std::string, int64_t> classes = read_label_table(table);
    for (const std::string& path : paths_) {
      auto found = classes.find(path);
      if (found == classes.end()) found = classes.find(fs::path(path).filename().string());
      if (found == classes.end()) {
        input_error(fmt::format("no label for the picture '{}'", path), table,
                    "add a row for it, or take the picture out of the data");
      }
      classes_.push_back(found->second);
    }
  }

  std::string path_;
  Pictures pictures_;
  std::vector<std::string> paths_;
  std::vector<int64_t> classes_;  // empty: no labels
};

}  // namespace

ReaderPtr images_reader(const DataSpec& spec, const std::vector<InputSpec>& inputs) {
  only_input(inputs, spec.path);
  return std::make_unique<ImagesReader>(spec.path, spec.labels);
}

}  // namespace mlopt
