#include <filesystem>
#include <string>

#include "core/onnx/io.h"
#include "tests/support/cases.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/paths.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace mlopt::test {
namespace {

namespace fs = std::filesystem;

constexpr double kSeconds = 120;
constexpr uintmax_t kMostBytes = 200 << 20;  // of the program: what sanitizers make of it is slow to copy

/// A model and its input, as ONNX's operator tests are stored; the output is wrong where `wrong`.
void write_case(const TempDir& folder, const std::string& name, bool wrong) {
  const fs::path data = folder.path() / "nodes" / name / "test_data_set_0";
  fs::create_directories(data);
  fs::copy_file(write_text_model(folder, "m.onnx", kTwoLayers), data.parent_path() / "model.onnx");
  const Type x = Type::tensor(DType::kF32, Dims{1, 4}), y = Type::tensor(DType::kF32, Dims{1, 3});
  write_datum(tensor({1, 4}, {1, 0, 0, 0}), x, "x", (data / "input_0.pb").string());
  write_datum(tensor({1, 3}, {wrong ? 2.5 : 1.5, -1, 5}), y, "y", (data / "output_0.pb").string());
}

/// A build folder with what the program's own has, the program in the place of what is not built for tests.
void write_build(const TempDir& folder) {
  fs::create_directories(folder.path() / "build");
  for (const auto& entry : fs::directory_iterator(binary_dir()))
    if (entry.path().filename().string().starts_with("lib") && entry.path().string().find(".so") != std::string::npos)
      fs::create_symlink(entry.path(), folder.path() / "build" / entry.path().filename());
  for (const char* name : {"mlopt", "gpu_data"}) fs::create_symlink(program(), folder.path() / "build" / name);
}

Outcome pack(const TempDir& folder, const std::string& out) {
  return run_command({(source_dir() / "scripts/gpu-pack").string(), "-o", out, "--build", folder / "build",
                      "--testdata", folder / "none", "--nodes", folder / "nodes", "--most-mb", "1000"},
                     kSeconds);
}

/// Runs gpu-check beside a program that does what the shell's `cases` say of its arguments.
Outcome check_with(const TempDir& folder, const std::string& cases) {
  folder.write("mlopt", "#!/bin/sh\ncase \"$*\" in\n" + cases + "esac\n");
  fs::permissions(folder / "mlopt", fs::perms::owner_all);
  fs::copy_file(source_dir() / "scripts/gpu_check/gpu-check", folder / "gpu-check");
  return run_command({folder / "gpu-check", "--only", "nodes", "--jobs", "1"}, kSeconds);
}

}  // namespace

TEST_CASE("an operator at which the GPU fails is wrong, not refused") {
  const TempDir folder;
  write_case(folder, "test_add_right", false);
  const Outcome checked =
      check_with(folder, R"( *--data*"--device gpu"*) echo "error: the GPU failed: an illegal address"; exit 4 ;; )");
  INFO(checked.err);
  CHECK(checked.status == 1);
  CHECK(checked.out.find("0 of 1 pass, 0 only the reference runs, 1 wrong") != std::string::npos);
}

TEST_CASE("a pack without operator tests is checked where a GPU is listed") {
  const TempDir folder, other;
  const std::string list = " devices*) echo '\"compute_capability\": \"9.0\"' >$3 ;; ", fail = " run*) exit 2 ;; ";
  const Outcome without = check_with(folder, fail), with = check_with(other, list + fail);
  CHECK(without.out.find("no GPU is listed") != std::string::npos);
  CHECK(with.out.find("no GPU") == std::string::npos);
  CHECK(with.out.find("0 of 0 pass") != std::string::npos);
}

TEST_CASE("the pack for a machine with a GPU runs here as far as it can") {
  if (fs::file_size(program()) > kMostBytes) return skip("the program of this build is too large to be packed");
  const TempDir folder;
  write_case(folder, "test_add_right", false);
  write_build(folder);
  const Outcome packed = pack(folder, folder / "pack");
  INFO(packed.err);
  REQUIRE(packed.status == 0);
  for (const char* name : {"mlopt", "gpu-check", "torch_models.py", "LICENSE", "needs-glibc"})
    CHECK(fs::exists(folder.path() / "pack" / name));
  const std::vector<std::string> check{
      folder / "pack/gpu-check", "--only", "nodes,tests,models", "--models", "resnet50", "--jobs", "1", "--out",
      folder / "results"};
  const Outcome checked = run_command(check, kSeconds);
  INFO(checked.err << checked.out);
  CHECK(checked.status == 0);
  CHECK(checked.out.find("1 of 1 pass") != std::string::npos);
  if (checked.out.find("no GPU") == std::string::npos) return skip("this machine has a GPU");

  fs::remove_all(folder.path() / "pack/nodes");
  write_case(folder, "test_add_wrong", true);
  REQUIRE(pack(folder, folder / "pack").status == 0);  // over what was packed before
  const Outcome wrong = run_command(check, kSeconds);
  INFO(wrong.out);
  CHECK(wrong.out.find("1 of 2 pass") != std::string::npos);
}

TEST_CASE("the pack leaves alone what it has not made") {
  const TempDir folder;
  write_build(folder);
  folder.write("mine/file.txt", "text");
  const Outcome outcome = pack(folder, folder / "mine");
  CHECK(outcome.status == 2);
  CHECK(outcome.err.find("mine") != std::string::npos);
  CHECK(fs::exists(folder.path() / "mine/file.txt"));
  const std::string script = (source_dir() / "scripts/gpu-pack").string();
  CHECK(run_command({script, "--unknown"}, kSeconds).status == 2);
  const std::vector<std::string> small{script, "-o", folder / "pack", "--build", folder / "build", "--most-mb", "1"};
  CHECK(run_command(small, kSeconds).status == 1);
}

}  // namespace mlopt::test
