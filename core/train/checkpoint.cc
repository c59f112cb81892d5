#include "core/train/checkpoint.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/data/array_file.h"
#include "core/tensor/cast.h"

namespace mlopt::train {
namespace {

constexpr const char *kSteps = "train/steps", *kSlower = "train/slower", *kRecipe = "train/recipe",
                     *kScale = "train/loss-scale";                          // value, good, skipped
constexpr const char* kVersion = "train/version";                           // without it recipes said less
constexpr const char *kBest = "train/best", *kBestWeights = "train/best/";  // score, epochs since; before names
constexpr size_t kKept = 2;

/// Checkpoints of the folder, the newest first.
std::vector<std::string> checkpoints_in(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step-") && name.ends_with(".npz")) paths.push_back(entry.path().string());
  }
  std::sort(paths.rbegin(), paths.rend());
  return paths;
}

const Tensor& find(const std::map<std::string, Tensor>& all, const std::string& name, const std::string& path) {
  const auto found = all.find(name);
  if (found == all.end())
    input_error(fmt::format("the checkpoint lacks '{}'", name), path, "it is of another training");
  return found->second;
}

/// Nothing in checkpoints of trainings without scores.
Best best_of(const std::map<std::string, Tensor>& all, const StateStore& state) {
  const auto found = all.find(kBest);
  if (found == all.end()) return {};
  const std::vector<double> numbers = to_doubles(found->second);
  Best best{numbers.at(0), static_cast<int64_t>(numbers.at(1))};
  for (const auto& [key, value] : all) {
    if (!key.starts_with(kBestWeights)) continue;
    const std::string name = key.substr(std::string_view(kBestWeights).size());
    if (state.has(name)) best.weights.emplace_back(name, cast(value, state.at(name).dtype()));
  }
  return best;
}

std::string without(std::string_view key, std::string recipe) {
  const size_t at = recipe.find(fmt::format(";{}=", key));
  if (at != std::string::npos) recipe.erase(at, recipe.find(';', at + 1) - at);
  return recipe;
}

/// Before checkpoints had a version some recipes did not say these, and some said --patience.
bool older_is(const std::string& made_by, std::string recipe) {
  for (const char* key : {"momentum", "loss-output"})
    if (without(key, made_by) == made_by) recipe = without(key, recipe);
  return without("patience", made_by) == recipe;
}

Standing restore(const std::string& path, const std::map<std::string, Tensor>& all, const TrainingGraphs& graphs,
                 const std::string& recipe) {
  const std::vector<int64_t> text = to_ints(find(all, kRecipe, path));
  Standing standing;
  standing.recipe.assign(text.begin(), text.end());
  if (standing.recipe != recipe && (all.contains(kVersion) || !older_is(standing.recipe, recipe)))
    input_error("the checkpoint is of another training", path,
                fmt::format("it was made by {}; give the same options, or another --checkpoint", standing.recipe));
  for (const std::string& name : kept_names(graphs)) {
    const Tensor &value = find(all, name, path), &now = graphs.state->at(name);
    if (value.dims() != now.dims())
      input_error(fmt::format("'{}' is {}, the model's is {}", name, to_string(value.dims()), to_string(now.dims())),
                  path, "it is of another model: give another --checkpoint");
    graphs.state->set(name, cast(value, now.dtype()));
  }
  standing.steps = to_ints(find(all, kSteps, path)).at(0);
  standing.slower = to_doubles(find(all, kSlower, path)).at(0);
  if (graphs.scaled) {
    const std::vector<double> scale = to_doubles(find(all, kScale, path));
    standing.scale = {scale.at(0), static_cast<int64_t>(scale.at(1)), static_cast<int64_t>(scale.at(2))};
  }
  standing.best = best_of(all, *graphs.state);
  return standing;
}

}  // namespace

std::set<std::string> kept_names(const TrainingGraphs& graphs) {
  std::set<std::string> names(graphs.statistics.begin(), graphs.statistics.end());
  for (const StateUpdate& update : graphs.parameter_updates) names.insert(update.state);
  return names;
}

void open_checkpoints(const std::string& folder, bool resume) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) input_error(fmt::format("cannot make the folder: {}", failed.message()), folder, "name another");
  require_writable((std::filesystem::path(folder) / "step-00000000.npz").string());
  if (!resume && !checkpoints_in(folder).empty())
    input_error("the folder has checkpoints of an earlier training", folder,
                "go on with --resume, name another --checkpoint, or remove them");
}

void save_checkpoint(const std::string& folder, const TrainingGraphs& graphs, const Standing& standing) {
  NamedTensors arrays;
  for (const std::string& name : kept_names(graphs)) arrays.emplace_back(name, graphs.state->at(name));
  arrays.emplace_back(kVersion, Tensor::ints({1}));
  arrays.emplace_back(kSteps, Tensor::ints({standing.steps}));
  arrays.emplace_back(kSlower, Tensor::of<double>({1}, {standing.slower}));
  if (graphs.scaled)
    arrays.emplace_back(kScale, Tensor::of<double>({3}, {standing.scale.value, static_cast<double>(standing.scale.good),
                                                         static_cast<double>(standing.scale.skipped)}));
  const Best& best = standing.best;
  if (best.score)
    arrays.emplace_back(kBest, Tensor::of<double>({2}, {*best.score, static_cast<double>(best.epochs_since)}));
  for (const auto& [name, value] : best.weights) arrays.emplace_back(kBestWeights + name, value);
  arrays.emplace_back(kRecipe, Tensor::of<uint8_t>({static_cast<int64_t>(standing.recipe.size())},
                                                   {standing.recipe.begin(), standing.recipe.end()}));
  write_npz((std::filesystem::path(folder) / fmt::format("step-{:08}.npz", standing.steps)).string(), arrays);
  const std::vector<std::string> all = checkpoints_in(folder);
  std::error_code kept;  // one that cannot be removed does no harm
  for (size_t i = kKept; i < all.size(); ++i) std::filesystem::remove(all[i], kept);
}

std::optional<Standing> load_checkpoint(const std::string& folder, const TrainingGraphs& graphs,
                                        const std::string& recipe,
                                        const std::function<void(const std::string&)>& warn) {
  for (const std::string& path : checkpoints_in(folder)) {
    std::map<std::string, Tensor> all;
    try {
      for (auto& [name, tensor] : read_npz(path)) all.emplace(name, std::move(tensor));
    } catch (const Error& e) {
      warn(fmt::format("a damaged checkpoint is left aside: {}: {}", path, e.message));
      continue;
    }
    return restore(path, all, graphs, recipe);
  }
  return std::nullopt;
}

}  // namespace mlopt::train
