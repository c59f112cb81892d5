#include "graphopt/passes.h"
#include "tests/support/catch.h"
#include "tests/support/rewrite.h"

using namespace mlopt;
using graphopt::merge_casts;
using test::declined;
using test::rewritten;

TEST_CASE("casts over a type that holds every value are one") {
  CHECK(rewritten(merge_casts, "g (float[N] x) => (float16[N] y) { a = Cast <to = 11> (x)  y = Cast <to = 10> (a) }") ==
        "Cast");
  CHECK(rewritten(merge_casts, "g (int8[N] x) => (uint8[N] y) { a = Cast <to = 6> (x)  y = Cast <to = 2> (a) }") ==
        "Cast");
  CHECK(rewritten(merge_casts, "g (bool[N] x) => (bool[N] y) { a = Cast <to = 1> (x)  y = Cast <to = 9> (a) }") ==
        "Cast");
  CHECK(rewritten(merge_casts, "g (int32[N] x) => (float[N] y) { a = Cast <to = 11> (x)  y = Cast <to = 1> (a) }") ==
        "Cast");
}

TEST_CASE("casts that lose something between them stay") {
  const std::string reason = "the type between the casts loses information";
  const auto over = [](const std::string& from, int between, const std::string& to, int last) {
    return "g (" + from + "[N] x) => (" + to + "[N] y) { a = Cast <to = " + std::to_string(between) +
           "> (x)  y = Cast <to = " + std::to_string(last) + "> (a) }";
  };
  CHECK(declined(merge_casts, over("double", 1, "double", 11)) == reason);
  CHECK(declined(merge_casts, over("float", 7, "float", 1)) == reason);
  CHECK(declined(merge_casts, over("float", 9, "float", 1)) == reason);
  CHECK(declined(merge_casts, over("float16", 16, "float", 1)) == reason);
  CHECK(declined(merge_casts, over("int8", 2, "int32", 6)) == reason);   // over uint8
  CHECK(declined(merge_casts, over("int32", 1, "int64", 7)) == reason);  // float32 has 24 bits
  CHECK(declined(merge_casts, over("int32", 7, "string", 8)) == "a number is written as a text of its type");
}

TEST_CASE("types that are said by name, before opset 6, are as well known") {
  CHECK(rewritten(merge_casts, R"(g (float[N] x) => (float[N] y)
    { a = Cast <to = "DOUBLE"> (x)  y = Cast <to = "FLOAT"> (a) })",
                  5) == "Cast");
}
