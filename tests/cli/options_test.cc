#include "cli/options.h"

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;
using cli::Options;

TEST_CASE("options are stored in the type of their target") {
  Options options("test");
  std::string model, text;
  int count = 0;
  std::optional<double> ratio;
  std::vector<std::string> names;
  bool flag = false;
  options.positional("MODEL", model, "the model");
  options.add("-t,--text", text, "T", "a text");
  options.add("--count", count, "N", "a number");
  options.add("--ratio", ratio, "R", "a ratio");
  options.add("--name", names, "NAME", "names");
  options.add("--flag", flag, "a flag");
  const std::vector<std::string> args = {"--count=3", "m.onnx", "-t",     "-",       "--name", "a",
                                         "--name",    "b,c",    "--flag", "--ratio", "-1.5"};
  parse(options, args);
  CHECK(model == "m.onnx");
  CHECK(text == "-");
  CHECK(count == 3);
  CHECK(ratio == -1.5);
  CHECK(names == std::vector<std::string>{"a", "b,c"});
  CHECK(flag);
}

namespace {

/// The message of the error that these arguments give, with its fix.
std::string error_of(const std::vector<std::string>& args) {
  Options options("test");
  std::string model, format, data;
  int count = 0;
  bool flag = false;
  options.positional("MODEL", model, "the model");
  options.add("--count", count, "N", "a number");
  options.add("--flag", flag, "a flag");
  options.add("--data", data, "D", "data");
  options.add("--format", format, "F", "a format").choices = {"qdq", "qoperator"};
  try {
    parse(options, args);
  } catch (const Error& e) {
    CHECK(e.code == Code::kUsage);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a mistake on the command line is named, with the nearest right word") {
  CHECK(error_of({"m"}) == "no error");
  CHECK(error_of({"--count", "3", "--", "--m"}) == "no error");
  CHECK(error_of({}) == "error: MODEL is required\n  fix: see --help");
  CHECK(error_of({"m", "--cuont", "3"}) == "error: unknown option '--cuont'\n  fix: did you mean '--count'?");
  CHECK(error_of({"--dta=x"}) == "error: unknown option '--dta'\n  fix: did you mean '--data'?");
  CHECK(error_of({"m", "n"}).find("unexpected argument 'n'") != std::string::npos);
  CHECK(error_of({"m", "--count", "many"}) == "error: 'many' is not a whole number: --count");
  CHECK(error_of({"m", "--count", "99999999999"}) == "error: 99999999999 is out of range: --count");
  for (const char* word : {"--flag=abc", "--flag=5", "--flag=true", "--flag="})
    CHECK(error_of({"m", word}) == "error: the option takes no value: --flag\n  fix: write --flag alone");
  CHECK(error_of({"m", "--data="}) == "error: the option has no value: --data");
  CHECK(error_of({"m", "--format", "qdqq"}) == "error: unknown value 'qdqq': --format\n  fix: did you mean 'qdq'?");
  CHECK(error_of({"m", "--count"}).find("--count") != std::string::npos);
}

TEST_CASE("the last of repeated values wins") {
  Options options("test");
  int count = 0;
  options.add("--count", count, "N", "a number");
  const std::vector<std::string> args = {"--count", "1", "--count", "2"};
  parse(options, args);
  CHECK(count == 2);
}
