#include "core/train/residuals.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/error.h"

namespace mlopt::train {
namespace {

constexpr size_t kKept = 2;  // as of checkpoints

std::string suffix_of(const Communicator& ranks) {
  return fmt::format("-rank-{}-of-{}.npz", ranks.rank(), ranks.size());
}

std::string path_of(const std::string& folder, int64_t steps, const Communicator& ranks) {
  return (std::filesystem::path(folder) / fmt::format("owed-{:08}{}", steps, suffix_of(ranks))).string();
}

bool are_of(const NamedTensors& residuals, const std::vector<std::string>& names, const StateStore& state) {
  std::set<std::string> wanted(names.begin(), names.end());
  for (const auto& [name, value] : residuals)
    if (wanted.erase(name) == 0 || value.dtype() != DType::kF32 || value.dims() != state.at(name).dims()) return false;
  return wanted.empty();
}

NamedTensors read(const std::string& path) {
  if (!std::filesystem::exists(path)) return {};
  try {
    return read_npz(path);
  } catch (const Error&) {
    return {};  // damaged: as good as none
  }
}

}  // namespace

void save_residuals(const std::string& folder, int64_t steps, const Communicator& ranks,
                    const NamedTensors& residuals) {
  if (residuals.empty()) return;
  write_npz(path_of(folder, steps, ranks), residuals);
  std::vector<std::filesystem::path> old;
  std::error_code ignored;  // one that cannot be removed does no harm
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("owed-") && name.ends_with(suffix_of(ranks))) old.push_back(entry.path());
  }
  std::sort(old.rbegin(), old.rend());
  for (size_t i = kKept; i < old.size(); ++i) std::filesystem::remove(old[i], ignored);
}

NamedTensors load_residuals(const std::string& folder, int64_t steps, Communicator& ranks,
                            const std::vector<std::string>& names, const StateStore& state) {
  NamedTensors own = read(path_of(folder, steps, ranks));
  float found = are_of(own, names, state) ? 1 : 0;
  all_reduce(ranks, {&found, 1});
  if (found < static_cast<float>(ranks.size())) return {};
  return own;
}

}  // namespace mlopt::train
