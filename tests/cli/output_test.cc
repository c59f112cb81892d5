#include "cli/output.h"

#include <filesystem>

#include "core/base/file.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/program.h"

using namespace mlopt;
using test::run_mlopt;
namespace fs = std::filesystem;

TEST_CASE("paths of one file are known, and devices are no files") {
  const test::TempDir folder;
  const std::string file = folder.write("a", ""), link = folder / "link";
  fs::create_symlink(file, link);
  CHECK(cli::same_file(file, folder / "./a"));
  CHECK(cli::same_file(file, link));
  CHECK(cli::same_file(folder / "new", folder / "./new"));
  CHECK(cli::same_file("new", "./new"));
  CHECK_FALSE(cli::same_file(file, folder / "b"));
  for (const char* none : {"-", "", "/dev/null"}) CHECK_FALSE(cli::same_file(none, none));
  CHECK_FALSE(cli::same_file(std::string(300, 'a'), "a"));
}

TEST_CASE("no file is written twice, and no model is replaced by a report") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), before = read_file(model);
  const std::string out = folder / "o.onnx", report = folder / "r";
  const auto refused = [&](const std::vector<std::string>& args, const char* options) {
    const test::Outcome outcome = run_mlopt(args);
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.find(options) != std::string::npos);
    CHECK(read_file(model) == before);
    CHECK_FALSE(fs::exists(out));
    CHECK_FALSE(fs::exists(report));
  };
  refused({"fuse", model, "-o", out, "--json", folder / "./m.onnx"}, "--json and MODEL");
  refused({"fuse", model, "-o", out, "--json", out}, "--output and --json");
  refused({"fuse", model, "-o", out, "--html", out}, "--output and --html");
  refused({"info", model, "--json", report, "--markdown", report}, "--json and --markdown");
  refused({"run", model, "--npz", model}, "--npz and MODEL");
  refused({"distill", model, "--teacher", model, "-o", model, "--data", "random"}, "--output and --teacher");
  const std::string config = folder.write("c.toml", "json = \"" + model + "\"\n");
  refused({"info", model, "--config", config}, "--json and MODEL");
  refused({"info", model, "--jsn", "--json", model}, "--jsn");
  refused({"info", "--jsn", "--json=" + model, "--", model}, "--jsn");
  CHECK(run_mlopt({"info", model, "-q", "--json", "/dev/null", "--markdown", "/dev/null"}).status == 0);
  CHECK(run_mlopt({"convert", model, "-o", model, "--no-bench", "-q"}).status == 0);
}

TEST_CASE("a report that cannot be written is told before the work") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "o.onnx";
  for (const std::string& path : {folder / "no/such/r", std::string("/"), std::string("/dev/full")}) {
    for (const char* option : {"--json", "--markdown", "--junit", "--html"}) {
      const test::Outcome outcome = run_mlopt({"fuse", model, "-o", out, "--no-bench", option, path});
      INFO(option << " " << path << ": " << outcome.err);
      CHECK(outcome.status == 3);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.find(path) != std::string::npos);
      CHECK_FALSE(fs::exists(out));
    }
  }
}
