#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/onnx/external.h"
#include "core/onnx/io.h"

namespace mlopt::proto {
namespace {

namespace fs = std::filesystem;

/// Large tensors start on a page, so that any runtime can map them; small ones would waste too much.
constexpr uint64_t kPage = 4096, kCacheLine = 64, kLarge = 64 << 10;

uint64_t aligned(uint64_t offset, uint64_t size) {
  const uint64_t unit = size >= kLarge ? kPage : kCacheLine;
  return (offset + unit - 1) / unit * unit;
}

std::string data_name(const fs::path& model, int number) {
  const std::string name = model.filename().string();
  return number == 0 ? name + ".data" : fmt::format("{}.{}.data", name, number);
}

/// Is `file` a name that data_name() gives for this model?
bool is_data_name(const std::string& file, const fs::path& model) {
  const std::string name = model.filename().string();
  if (file == name + ".data") return true;
  if (!file.starts_with(name + ".") || !file.ends_with(".data")) return false;
  const auto number = parse_int(std::string_view(file).substr(name.size() + 1, file.size() - name.size() - 6));
  return number && *number > 0;
}

/// The data files of the model at `path`, as it names them; none where there is none, or it cannot be read.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return {};
  try {
    return read_model(path).external_files;
  } catch (const Error&) {
    return {};
  }
}

/// The data files that the model and the others of its folder name.
std::set<std::string> used_beside(const fs::path& model) {
  const std::vector<std::string> own = read_model(model.string()).external_files;
  std::set<std::string> used(own.begin(), own.end());
  const fs::path folder = model.parent_path();
  std::error_code failed;
  fs::directory_iterator entry(folder.empty() ? "." : folder, failed);
  for (; !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
    if (entry->path().extension() != ".onnx" || entry->path().filename() == model.filename()) continue;
    for (const std::string& file : files_of(entry->path().string()))
      used.insert(fs::path(file).lexically_normal().string());
  }
  return used;
}

}  // namespace

ExternalFile::ExternalFile(const Written& written) : blobs_(written.blobs) {
  std::map<std::pair<const std::byte*, size_t>, uint64_t> seen;
  for (size_t index = 0; index < blobs_.size(); ++index) {
    const Tensor& blob = blobs_[index];
    const auto [place, fresh] = seen.emplace(std::pair(blob.raw(), blob.bytes()), aligned(size_, blob.bytes()));
    offsets_.push_back(place->second);
    if (!fresh) continue;
    order_.push_back(index);
    size_ = place->second + blob.bytes();
  }
}

std::string ExternalFile::choose_name(const std::string& path) const {
  const fs::path model(path);
  for (int number = 0;; ++number) {
    std::string name = data_name(model, number);
    const fs::path file = model.parent_path() / name;
    std::error_code failed;
    if (!fs::exists(fs::symlink_status(file, failed)) || is_at(file.string())) return name;
  }
}

bool ExternalFile::is_at(const std::string& path) const {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed) || fs::is_symlink(path, failed) || fs::file_size(path, failed) != size_)
    return false;
  const auto file = MappedFile::open(path);
  wire::Bytes rest = file->bytes();
  bool same = true;
  write([&](wire::Bytes piece) {
    same = same && std::memcmp(rest.data(), piece.data(), piece.size()) == 0;
    file->release(rest.first(piece.size()));
    rest = rest.subspan(piece.size());
  });
  return same;
}

void ExternalFile::refer(Written& written, const std::string& name) const {
  fill_in(written, 0, [&](onnx::TensorProto& tensor, uint64_t index) {
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    add("location", name);
    add("offset", std::to_string(offsets_[index]));
    add("length", std::to_string(blobs_[index].bytes()));
  });
}

void ExternalFile::write(const std::function<void(wire::Bytes)>& sink) const {
  static constexpr std::byte kZeros[kPage] = {};
  uint64_t at = 0;
  for (const size_t index : order_) {
    sink(std::span(kZeros).first(offsets_[index] - at));
    sink(blobs_[index].raw_bytes());
    blobs_[index].release_pages();
    at = offsets_[index] + blobs_[index].bytes();
  }
}

std::vector<std::string> owned_data_files(const std::string& path) {
  std::vector<std::string> owned = files_of(path);
  std::erase_if(owned, [&](const std::string& file) { return !is_data_name(file, path); });
  return owned;
}

void remove_unused(const std::vector<std::string>& files, const std::string& path,
                   const std::vector<std::string>& kept) {
  if (files.empty()) return;
  const fs::path folder = fs::path(path).parent_path();
  const std::set<std::string> used = used_beside(path);
  for (const std::string& file : files) {
    std::error_code failed;  // an old file that stays is no reason to fail now that the model is written
    const fs::path place = folder / file;
    const auto is_here = [&](const std::string& other) { return fs::equivalent(other, place, failed); };
    if (!used.contains(file) && std::none_of(kept.begin(), kept.end(), is_here)) fs::remove(place, failed);
  }
}

}  // namespace mlopt::proto
