#include "tests/support/program.h"

#include "core/base/file.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/paths.h"

using namespace mlopt;
using test::run_mlopt;

TEST_CASE("the version is one line") {
  const test::Outcome outcome = run_mlopt({"--version"});
  CHECK(outcome.status == 0);
  CHECK(outcome.out.rfind("mlopt ", 0) == 0);
  CHECK(outcome.out.find('\n') == outcome.out.size() - 1);
}

TEST_CASE("a wrong command line is status 2 with one error and its fix") {
  CHECK(run_mlopt({}).status == 2);
  const test::Outcome outcome = run_mlopt({"inof", "m.onnx"});
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "error: unknown command 'inof'\n  fix: did you mean 'info'?\n");
  const test::Outcome later = run_mlopt({"tune", "m.onnx"});
  CHECK(later.status == 2);
  CHECK(later.err.find("'tune' is kept for a later version") != std::string::npos);
  CHECK(run_mlopt({"help", "report"}).err.find("kept for a later version") != std::string::npos);
  CHECK(run_mlopt({"info"}).status == 2);
  CHECK(run_mlopt({"bench"}).status == 2);
  CHECK(run_mlopt({"compare", "a.onnx", "b.onnx", "--tolerance", "nan"}).status == 2);
  CHECK(run_mlopt({"info", "m.onnx", "--threads", "-1"}).status == 2);
  CHECK(run_mlopt({"info", "m.onnx", "--threads", "1000000"}).status == 2);
  CHECK(run_mlopt({"info", "m.onnx", "--quiet", "--verbose"}).status == 2);
  CHECK(run_mlopt({"info", ""}).err.find("an empty value: MODEL") != std::string::npos);
  CHECK(run_mlopt({"info", "m.onnx", "--json", "-", "--markdown", "-"}).status == 2);
  CHECK(run_mlopt({"info", "m.onnx", "--device", "cup"}).err.find("did you mean 'cpu'?") != std::string::npos);
}

TEST_CASE("a file that is no model is status 3, for every command that reads one") {
  const test::TempDir folder;
  const std::string empty = folder.write("empty.onnx", ""), noise = folder.write("noise.onnx", "\x80\x01 not a model");
  for (const std::string& model : {empty, noise, folder / "missing.onnx", folder.path().string()}) {
    INFO(model);
    for (const char* command : {"info", "check", "run"}) {
      const test::Outcome outcome = run_mlopt({command, model});
      INFO(command << ": " << outcome.err);
      CHECK(outcome.status == 3);
      CHECK(outcome.err.rfind("error: ", 0) == 0);
      CHECK(outcome.err.find(model) != std::string::npos);
      CHECK(outcome.err.find("\n  fix: ") != std::string::npos);
    }
  }
}

TEST_CASE("every error says what to do, on one line, whatever the names hold") {
  const test::TempDir folder;
  const std::string values = write_text_model(folder, "values.onnx",
                                              "<ir_version: 10, opset_import: [\"\" : 21]> g (int64 d, float[2] v) => "
                                              "(float[3,N] y) <int64[3] i = {0, 1, 2}> { y = OneHot (i, d, v) }");
  const test::Outcome outcome = run_mlopt({"run", values, "--range", "d=-2:-1"});
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find(": OneHot giving 'y' of " + values + "\n  fix: the values of the inputs were generated") !=
        std::string::npos);
  const std::string name = folder.write("\x1b[31m\n\xFF.onnx", "");
  const test::Outcome odd = run_mlopt({"info", name});
  CHECK(odd.err.find("\\x1b[31m\\n\\xff.onnx\n  fix: ") != std::string::npos);
  CHECK(run_mlopt({"bench", values, "--runs", "0"}).err.find("\n  fix: see mlopt bench --help") != std::string::npos);
}

TEST_CASE("an error is in the JSON report too") {
  const test::TempDir folder;
  const std::string report = folder / "report.json";
  CHECK(run_mlopt({"info", folder / "missing.onnx", "--json", report}).status == 3);
  const Json error = Json::parse(read_file(report))["error"];
  CHECK(error.find("code")->number() == 3);
  CHECK(error.find("where")->string() == folder / "missing.onnx");
  CHECK_FALSE(error.find("what")->string().empty());
  CHECK(error.find("fix"));
  CHECK(Json::parse(run_mlopt({"run", "--jsn", "--json", "-"}).out).find("error"));
}

TEST_CASE("reports go where they are asked for") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  const test::Outcome plain = run_mlopt({"info", model});
  CHECK(plain.out.find("MatMul") != std::string::npos);
  const test::Outcome json = run_mlopt({"info", model, "--json", "-"});
  CHECK(Json::parse(json.out).find("operators"));
  CHECK(json.err.empty());
  CHECK(run_mlopt({"info", model, "--quiet"}).out.empty());
  const test::Outcome files =
      run_mlopt({"info", model, "-q", "--markdown", folder / "r.md", "--junit", folder / "r.xml"});
  CHECK(files.status == 0);
  CHECK(read_file(folder / "r.md").find("| MatMul | 1 |") != std::string::npos);
  CHECK(read_file(folder / "r.xml").find("failures=\"0\"") != std::string::npos);
  CHECK(run_mlopt({"info", model, "--json", folder / "no/such/folder.json"}).status == 3);
  CHECK(run_mlopt({"info", model, "--json", "/dev/full"}).status == 3);
}

TEST_CASE("options come from a configuration file") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers);
  const std::string config = folder.write("c.toml", "shape = \"N=7\"\n[run]\nno-check = true\n");
  const Json report = Json::parse(run_mlopt({"info", model, "--json", "-", "--config", config}).out);
  CHECK(report.find("macs")->number() == 7 * 4 * 3);
  CHECK(run_mlopt({"info", model, "--config", folder / "none.toml"}).status == 3);
  const std::string silent = folder.write("q.toml", "quiet = true");
  CHECK(run_mlopt({"info", model, "--config", silent}).out.empty());
  CHECK_FALSE(run_mlopt({"info", model, "--config", silent, "-v"}).out.empty());
  const std::string lone = folder.write("e.toml", "list-passes = true");
  CHECK(run_mlopt({"fuse", "--config", lone}).out.find("fold_constants") != std::string::npos);
  const std::string reported = folder.write("f.toml", "json = \"" + (folder / "r.json") + "\"");
  CHECK(run_mlopt({"info", folder / "none.onnx", "--config", reported}).status == 3);
  CHECK(Json::parse(read_file(folder / "r.json")).find("error"));
  CHECK(run_mlopt({"info", model, "--config", folder.write("d.toml", "thrads = 2")}).status == 2);
}

TEST_CASE("a standard error that is full or closed changes neither the status nor what is written") {
  const test::TempDir folder;
  const std::string model = write_text_model(folder, "m.onnx", test::kTwoLayers), out = folder / "o.onnx";
  const auto status = [](const std::string& line) {
    const std::string script = "exec \"$0\" " + line;
    return test::run_command({"sh", "-c", script, test::program().string()}, 60).status;
  };
  for (const char* nowhere : {" 2>/dev/full", " 2>&-"}) {
    INFO(nowhere);
    CHECK(status("inof" + std::string(nowhere)) == 2);
    CHECK(status("info " + (folder / "none.onnx") + nowhere) == 3);
    CHECK(status("fuse " + model + " -o " + out + " --only 'none*' --no-bench" + nowhere) == 0);
    CHECK(run_mlopt({"info", out}).status == 0);
  }
  CHECK(status("info " + model + " >&-") == 3);
}
