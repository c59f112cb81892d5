#include "core/data/unicode/utf8.h"

#include "tests/support/catch.h"

using namespace mlopt::unicode;

TEST_CASE("characters of one to four bytes are read and written") {
  const std::u32string text =
      U"a\u00e9\u20ac\U0001f642\u0000"
      U"b\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff";
  CHECK(decode_utf8(encode_utf8(text)) == text);
  CHECK(encode_utf8(U"\u00e9\u20ac\U0001f642") == "\xc3\xa9\xe2\x82\xac\xf0\x9f\x99\x82");
}

TEST_CASE("bytes that begin no character stand for themselves where they are asked for") {
  CHECK(code_points("\xe2\x82\xac\xff\xe2(") == U"\u20ac\u00ff\u00e2(");
  CHECK(code_points("\xed\xa0\x80") == U"\u00ed\u00a0\u0080");  // a surrogate
  CHECK(code_points("").empty());
}

TEST_CASE("what is no well-formed character is replaced, byte by byte") {
  CHECK(decode_utf8("a\xff"
                    "b") ==
        U"a\ufffd"
        U"b");
  CHECK(decode_utf8("\xc0\x80") == U"\ufffd\ufffd");            // overlong
  CHECK(decode_utf8("\xe0\x9f\xbf") == U"\ufffd\ufffd\ufffd");  // overlong
  CHECK(decode_utf8("\xed\xa0\x80") == U"\ufffd\ufffd\ufffd");  // a surrogate
  CHECK(decode_utf8("\xf4\x90\x80\x80").size() == 4);           // beyond U+10FFFF
  CHECK(decode_utf8("\xe2\x82") == U"\ufffd\ufffd");            // cut short
  CHECK(decode_utf8("\xe2\x28\xa1") == U"\ufffd(\ufffd");
  CHECK(is_utf8("\xe2\x82\xac"));
  CHECK(!is_utf8("\xe2\x82"));
}
