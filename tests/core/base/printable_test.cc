#include "core/base/printable.h"

#include "tests/support/catch.h"

using mlopt::printable;
using mlopt::printable_lines;

TEST_CASE("text in any language stays as it is") {
  for (const char* text : {"", "conv1/weight:0", "a\\b 'c'", "größe", "層.重み", "\U0001F600", "\xF4\x8F\xBF\xBF"})
    CHECK(printable(text) == text);
}

TEST_CASE("what would break a line or steer a terminal is escaped") {
  CHECK(printable("a\nb\tc\r") == "a\\nb\\tc\\x0d");
  CHECK(printable("\x1b[2J") == "\\x1b[2J");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\x7f\xC2\x9B") == "\\x7f\\xc2\\x9b");  // delete, and the one-character form of escape [
  CHECK(printable(printable("\n")) == printable("\n"));
}

TEST_CASE("bytes that are no UTF-8 are escaped") {
  CHECK(printable("ab\xFFz") == "ab\\xffz");
  CHECK(printable("\xC3") == "\\xc3");                             // cut short
  CHECK(printable("\xC3(") == "\\xc3(");                           // goes on with something else
  CHECK(printable("\x80") == "\\x80");                             // begins in the middle
  CHECK(printable("\xC0\xAF") == "\\xc0\\xaf");                    // in more bytes than it needs
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");           // half of a pair
  CHECK(printable("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
}

TEST_CASE("the lines of a text stay") {
  CHECK(printable_lines("a\n\n\tb\n") == "a\n\n\\tb\n");
  CHECK(printable_lines("a") == "a");
}
