#include "cli/config.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/temp_dir.h"

using namespace mlopt;

namespace {

/// What the options hold after a parse with a configuration file.
struct Parsed {
  std::string data = "none", batch, config;
  std::vector<std::string> names;
  double rate = 0;
  bool flag = false;
};

Parsed parse_with(const std::string& file, std::vector<std::string> args = {}) {
  const test::TempDir folder;
  Parsed p;
  cli::Options options("quantize");
  options.add("--data", p.data, "D", "data");
  options.add("--name", p.names, "N", "names");
  options.add("--batch", p.batch, "N,N", "a list");
  options.add("--rate", p.rate, "R", "a rate");
  options.add("--flag", p.flag, "a flag");
  options.add("--config", p.config, "F", "the file");
  args.insert(args.begin(), {"--config", folder.write("recipe.toml", file)});
  cli::parse(options, args);
  return p;
}

std::string error_of(const std::string& file) {
  try {
    parse_with(file);
  } catch (const Error& e) {
    CHECK(e.code == Code::kUsage);
    return e.message;
  }
  return "no error";
}

}  // namespace

TEST_CASE("options come from a file") {
  const Parsed p = parse_with(R"(
# a recipe
data = "images:val/#1,crop=224"   # a comment
rate = 1e-3
flag = true
name = ["a", 'b "c"']

[quantize]
name = "d"
[fuse]
nothing = "of other commands"
)");
  CHECK(p.data == "images:val/#1,crop=224");
  CHECK(p.rate == 1e-3);
  CHECK(p.flag);
  CHECK(p.names == std::vector<std::string>{"a", "b \"c\"", "d"});
}

TEST_CASE("the command line wins over the file") {
  CHECK(parse_with("data = \"file\"", {"--data", "line"}).data == "line");
  CHECK_FALSE(parse_with("flag = false").flag);
  CHECK(parse_with("name = [\"a\", \"b\"]", {"--name", "c"}).names == std::vector<std::string>{"c"});
}

TEST_CASE("the command line wins over what the file has against it") {
  const test::TempDir folder;
  const std::string file = folder.write("recipe.toml", "no-bench = true\nquiet = true\n");
  const auto parse_verb = [&](std::vector<std::string> args) {
    struct {
      bool no_bench = false, quiet = false, verbose = false;
      double bench = 0;
      std::string config;
    } p;
    cli::Options options("fuse");
    options.add("--bench", p.bench, "S", "seconds");
    options.add("--no-bench", p.no_bench, "none");
    options.add("-q,--quiet", p.quiet, "less");
    options.add("-v,--verbose", p.verbose, "more");
    options.add("--config", p.config, "F", "the file");
    args.insert(args.begin(), {"--config", file});
    cli::parse(options, args);
    return std::pair(p.no_bench, p.quiet);
  };
  CHECK(parse_verb({}) == std::pair(true, true));
  CHECK(parse_verb({"--bench", "2"}) == std::pair(false, true));
  CHECK(parse_verb({"-v"}) == std::pair(true, false));
  CHECK(parse_verb({"--verbose", "--bench=2"}) == std::pair(false, false));
}

TEST_CASE("a table is for the command of that name, or of that other name") {
  CHECK(error_of("[optimize]\nnothing = 1") == "no error");
  CHECK(error_of("[quantise]\ndata = 1") == "unknown command 'quantise'");
}

TEST_CASE("arrays go over lines, and strings have TOML's escapes") {
  const Parsed p =
      parse_with("name = [  # names\n  \"a\",\n\n  '\\u'  # as it is\n  , \"\\u00e9\\U0001F600\\b\",\n]\nrate = 2");
  CHECK(p.names == std::vector<std::string>{"a", "\\u", "\xc3\xa9\xf0\x9f\x98\x80\b"});
  CHECK(p.rate == 2);
  CHECK(parse_with("batch = [1, 2, 4]").batch == "1,2,4");
  for (const char* wrong : {"\\u12", "\\ud800", "\\U00110000", "\\q"})
    CHECK(error_of(std::string("data = \"") + wrong + "\"") == "unknown escape in a string");
}

TEST_CASE("a mistake in the file is named with its line") {
  CHECK(error_of("dta = 1") == "unknown option 'dta'");
  CHECK(error_of("data") == "expected '='");
  CHECK(error_of("data = ") == "expected a value");
  CHECK(error_of("data = \"open") == "the string is not closed");
  CHECK(error_of("name = [\"a\", ") == "the array is not closed");
  CHECK(error_of("flag = 3") == "'flag' takes true or false");
  CHECK(error_of("data = [\"a\", \"b\"]") == "'data' takes one value");
  CHECK(error_of("data = \"a\" b") == "text after the value");
  CHECK(error_of("config = \"again\"") == "unknown option 'config'");
}
