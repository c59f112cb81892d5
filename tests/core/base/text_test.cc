#include "core/base/text.h"

#include "tests/support/catch.h"

using namespace mlopt;
using Texts = std::vector<std::string>;

TEST_CASE("split and join undo one another") {
  CHECK(split("a,,b,", ',') == Texts{"a", "", "b", ""});
  CHECK(split("", ',').empty());
  CHECK(join(split("a;b;c", ';'), ";") == "a;b;c");
  CHECK(trim(" \t a b\r\n") == "a b");
  CHECK(trim(" \n").empty());
}

TEST_CASE("a number is the whole text or nothing") {
  CHECK(parse_int("-42") == -42);
  CHECK(parse_int("9223372036854775807") == INT64_MAX);
  for (const char* bad : {"", " 1", "1 ", "1x", "+1", "0x10", "9223372036854775808", "1.0"})
    CHECK_FALSE(parse_int(bad));
  CHECK(parse_double("1e-3") == 1e-3);
  CHECK(parse_double("inf") == std::numeric_limits<double>::infinity());
  for (const char* bad : {"", "1e", "1,5", "1.0f", "1e999"}) CHECK_FALSE(parse_double(bad));
}

TEST_CASE("sizes are read and shown in powers of 1024") {
  CHECK(parse_bytes("12") == 12);
  CHECK(parse_bytes("1.5K") == 1536);
  CHECK(parse_bytes("2GiB") == int64_t{2} << 30);
  CHECK(parse_bytes("40MB") == int64_t{40} << 20);
  CHECK(parse_bytes("3kb") == std::nullopt);  // a small b is a bit
  for (const char* bad : {"", "B", "-1", "K", "1X", "nan", "1e30"}) CHECK_FALSE(parse_bytes(bad));
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(1536) == "1.5 KB");
  CHECK(format_bytes(250.0 * 1024 * 1024) == "250 MB");
  CHECK(format_bytes(5e15) == "4547 TB");
}

TEST_CASE("a text as a glob matches itself alone") {
  for (const std::string text : {"", "plain/a-b", "a[0]", "a[!b]", "*?[x]", "a[", "a]"}) {
    INFO(text);
    const std::string glob = as_glob(text);
    CHECK(glob_match(glob, text));
    for (const char* other : {"a0", "ab", "a", "aa", "bbx", "plain/a", "xyz"}) CHECK_FALSE(glob_match(glob, other));
    CHECK(glob_match("<" + glob + ">*", "<" + text + ">more"));
  }
}

TEST_CASE("globs match as a shell's, slashes included") {
  CHECK(glob_match("*", ""));
  CHECK(glob_match("/head/*", "/head/a/b"));
  CHECK(glob_match("a*b*c", "a1b2b3c"));
  CHECK_FALSE(glob_match("a*b*c", "a1b2b3"));
  CHECK(glob_match("conv?", "conv1"));
  CHECK_FALSE(glob_match("conv?", "conv"));
  CHECK(glob_match("[a-c]x[!0-9]", "bxz"));
  CHECK_FALSE(glob_match("[a-c]x[!0-9]", "bx7"));
  CHECK(glob_match("[]]", "]"));
  CHECK(glob_match("a[1", "a[1"));  // a set that never ends is only text
  CHECK(glob_match("a[0]/b", "a[0]/b"));
  CHECK(glob_match("a[0]/b", "a0/b"));
  CHECK_FALSE(glob_match("", "a"));
  CHECK(glob_any(Texts{"x", "y*"}, "yes"));
  CHECK_FALSE(glob_any({}, "yes"));
}

TEST_CASE("many stars do not take long") {
  const std::string text(5000, 'a');
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "*a";
  CHECK_FALSE(glob_match(pattern + "b", text));
}

TEST_CASE("a slip of the finger finds the word that was meant") {
  const Texts words = {"convert", "compare", "quantize", "prune"};
  CHECK(did_you_mean("qauntize", words) == "quantize");
  CHECK(did_you_mean("prnue", words) == "prune");
  CHECK(did_you_mean("compar", words) == "compare");
  CHECK_FALSE(did_you_mean("train", words));
  CHECK(suggestion("convrt", words) == "did you mean 'convert'?");
  CHECK(suggestion("xyz", words) == "one of convert, compare, quantize, prune");
  CHECK(suggestion("xyz", {}) == "there are none");
}
