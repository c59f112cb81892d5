#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.h"
#include "tests/support/paths.h"

// The arrows between the folders go one way, and each outside library is seen by one folder. The program does not
// compile differently when a line crosses them, so they are read here.

namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// What a folder may include of ours besides itself, and besides what core's own order allows.
struct Folder {
  std::string name;
  Names may_include;
};

const std::vector<Folder> kFolders = {
    {"core/base", {}},
    {"core/tensor", {"core/base"}},
    {"core/ir", {"core/base", "core/tensor"}},
    {"core/report", {"core/base"}},
    {"core/data", {"core/base", "core/tensor"}},
    {"core/onnx", {"core/base", "core/tensor", "core/ir"}},
    {"core/rewrite", {"core/base", "core/tensor", "core/ir"}},
    {"core/exec", {"core/base", "core/tensor", "core/ir"}},
    {"core/autodiff", {"core/base", "core/tensor", "core/ir", "core/rewrite"}},
    {"core/calib", {"core/base", "core/tensor", "core/ir", "core/rewrite", "core/exec", "core/data"}},
    {"core/measure", {"core/base", "core/tensor", "core/ir", "core/exec"}},
    {"core/train", {"core/base", "core/tensor", "core/ir", "core/rewrite", "core/exec", "core/autodiff", "core/data"}},
    {"graphopt", {"core"}},
    {"quantize", {"core", "graphopt/pipelines.h"}},
    {"prune", {"core", "graphopt/pipelines.h"}},
    {"distill", {"core", "graphopt/pipelines.h"}},
    {"backends/reference", {"core"}},
    {"backends/cpu", {"core"}},
    {"backends/gpu", {"core"}},
    {"backends/mpi", {"core"}},
    {"cli", {"core", "graphopt", "quantize", "prune", "distill", "backends"}},
};

/// Outside libraries that one folder hides from the others.
const std::map<std::string, std::string> kOwners = {
    {"onnx/", "core/onnx"},       {"google/protobuf/", "core/onnx"},
    {"dnnl", "backends/cpu"},     {"oneapi/", "backends/cpu"},
    {"cuda", "backends/gpu"},     {"cublas", "backends/gpu"},
    {"cudnn", "backends/gpu"},    {"nccl", "backends/gpu"},
    {"cusparse", "backends/gpu"}, {"CLI/", "cli"},
    {"mpi.h", "backends/mpi"},
};

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

/// "core/ir" holds "core/ir/graph.h" and "core/ir", not "core/iron.h".
bool holds(const std::string& folder, const std::string& path) {
  return path == folder || starts_with(path, folder + "/");
}

const Folder* folder_of(const std::string& path) {
  const auto it = std::find_if(kFolders.begin(), kFolders.end(), [&](const Folder& f) { return holds(f.name, path); });
  return it == kFolders.end() ? nullptr : &*it;
}

/// Why `file` (a path from the root) may not include `included`, or nothing.
std::string objection(const std::string& file, const std::string& included) {
  const Folder* folder = folder_of(file);
  if (!folder) return "lies in no folder that is known";
  for (const auto& [library, owner] : kOwners) {
    if (starts_with(included, library) && !holds(owner, file)) return "is for " + owner + " alone";
  }
  const bool ours = fs::exists(mlopt::test::source_dir() / included);
  if (!ours || holds(folder->name, included)) return {};
  const bool allowed = std::any_of(folder->may_include.begin(), folder->may_include.end(),
                                   [&](const std::string& name) { return holds(name, included); });
  return allowed ? std::string{} : folder->name + " may not include it";
}

/// The X of a line `#include "X"` or `#include <X>`, else nothing.
std::string included_by(const std::string& line) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return {};
  const size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return {};
  const size_t begin = line.find_first_of("<\"", word);
  const size_t end = begin == std::string::npos ? begin : line.find_first_of(">\"", begin + 1);
  return end == std::string::npos ? std::string{} : line.substr(begin + 1, end - begin - 1);
}

Names includes_of(const fs::path& file) {
  Names found;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (std::string included = included_by(line); !included.empty()) found.push_back(std::move(included));
  }
  return found;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cc" || path.extension() == ".h" || path.extension() == ".cu";
}

/// Every source file under the folders that the program is made of, as paths from the root.
Names all_sources() {
  Names sources;
  for (const char* top : {"core", "graphopt", "quantize", "prune", "distill", "backends", "cli"}) {
    const fs::path folder = mlopt::test::source_dir() / top;
    if (!fs::exists(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (is_source(entry.path())) sources.push_back(fs::relative(entry.path(), mlopt::test::source_dir()));
    }
  }
  return sources;
}

}  // namespace

TEST_CASE("no file includes against the arrows between the folders") {
  const Names sources = all_sources();
  REQUIRE(sources.size() > 20);
  for (const std::string& file : sources) {
    for (const std::string& included : includes_of(mlopt::test::source_dir() / file)) {
      const std::string reason = objection(file, included);
      if (!reason.empty()) FAIL_CHECK(file << " includes " << included << ", which " << reason);
    }
  }
}

TEST_CASE("include lines are read") {
  CHECK(included_by("#include <onnx/checker.h>") == "onnx/checker.h");
  CHECK(included_by("  # include \"core/ir/graph.h\"  // why") == "core/ir/graph.h");
  CHECK(included_by("// #include <vector>").empty());
  CHECK(included_by("#define include <x>").empty());
}

TEST_CASE("an include against the arrows is found") {
  CHECK_FALSE(objection("core/base/error.cc", "core/tensor/tensor.h").empty());
  CHECK_FALSE(objection("core/ir/graph.cc", "core/onnx/io.h").empty());
  CHECK_FALSE(objection("core/exec/kernel.h", "backends/reference/backend.h").empty());
  CHECK_FALSE(objection("core/ir/graph.cc", "onnx/checker.h").empty());
  CHECK_FALSE(objection("backends/reference/conv.cc", "dnnl.hpp").empty());
  CHECK_FALSE(objection("backends/reference/conv.cc", "backends/cpu/backend.h").empty());
  CHECK_FALSE(objection("elsewhere/file.cc", "vector").empty());
  CHECK(objection("backends/cpu/conv.cc", "dnnl.hpp").empty());
  CHECK(objection("core/onnx/io.cc", "onnx/checker.h").empty());
  CHECK(objection("cli/main.cc", "backends/reference/backend.h").empty());
}
