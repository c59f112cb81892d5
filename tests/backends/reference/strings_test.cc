#include "tests/support/cases.h"
#include "tests/support/catch.h"

namespace mlopt::test {
namespace {

using Words = std::vector<std::string>;

Tensor words(const Words& values) { return Tensor::of_strings({static_cast<int64_t>(values.size())}, values); }
Tensor truths(const std::vector<double>& values) {
  return tensor({static_cast<int64_t>(values.size())}, values, DType::kBool);
}

TEST_CASE("StringConcat broadcasts") {
  check_cases({
      {"StringConcat", {words({"a", "b"}), Tensor::of_strings({}, {"!"})}, {}, {words({"a!", "b!"})}},
      {"StringConcat",
       {Tensor::of_strings({2, 1}, {"a", "b"}), words({"x", "y"})},
       {},
       {Tensor::of_strings({2, 2}, {"ax", "ay", "bx", "by"})}},
      {"StringConcat", {Tensor::of_strings({0}, {}), words({"x"})}, {}, {Tensor::of_strings({0}, {})}},
  });
  check_errors({{"StringConcat", {words({"a", "b"}), words({"a", "b", "c"})}, {}, ""},
                {"StringConcat", {words({"a"}), counting({1})}, {}, "float32"}});
}

TEST_CASE("StringSplit splits at a delimiter or at white space") {
  const auto count = [](std::vector<int64_t> n) { return Tensor::ints(n); };
  check_cases({
      {"StringSplit",
       {words({"a.b", "c"})},
       {{attr("delimiter", ".")}},
       {Tensor::of_strings({2, 2}, {"a", "b", "c", ""}), count({2, 1})}},
      {"StringSplit",
       {words({"a..b."})},
       {{attr("delimiter", ".")}},
       {Tensor::of_strings({1, 4}, {"a", "", "b", ""}), count({4})}},
      {"StringSplit",
       {words({"a.b.c"})},
       {{attr("delimiter", "."), attr("maxsplit", 1)}},
       {Tensor::of_strings({1, 2}, {"a", "b.c"}), count({2})}},
      {"StringSplit", {words({"  a \t b  ", ""})}, {}, {Tensor::of_strings({2, 2}, {"a", "b", "", ""}), count({2, 0})}},
      {"StringSplit",
       {words({" a  b c "})},
       {{attr("maxsplit", 1)}},
       {Tensor::of_strings({1, 2}, {"a", "b c "}), count({2})}},
      {"StringSplit", {Tensor::of_strings({0}, {})}, {}, {Tensor::of_strings({0, 0}, {}), count({})}},
  });
}

TEST_CASE("StringNormalizer drops words and changes case, also beyond ASCII") {
  const Tensor all = words({"monday", "Tuesday", "\u00c4RGER"});
  check_cases({
      {"StringNormalizer",
       {all},
       {{attr("case_change_action", "LOWER")}},
       {words({"monday", "tuesday", "\u00e4rger"})}},
      {"StringNormalizer",
       {all},
       {{attr("case_change_action", "UPPER"), attr("is_case_sensitive", 1),
         attr("stopwords", Words{"monday", "tuesday"})}},
       {words({"TUESDAY", "\u00c4RGER"})}},
      {"StringNormalizer", {all}, {{attr("stopwords", Words{"MONDAY", "tuesday"})}}, {words({"\u00c4RGER"})}},
      {"StringNormalizer",
       {Tensor::of_strings({1, 1}, {"x"})},
       {{attr("stopwords", Words{"x"})}},
       {Tensor::of_strings({1, 1}, {""})}},
  });
  check_errors({
      {"StringNormalizer", {Tensor::of_strings({2, 1}, {"a", "b"})}, {}, "one row"},
      {"StringNormalizer", {all}, {{attr("case_change_action", "TITLE")}}, "'TITLE'"},
  });
}

TEST_CASE("RegexFullMatch matches the whole text") {
  const auto row = [](const char* pattern, const Words& texts, const std::vector<double>& expected) {
    return OpCase{"RegexFullMatch", {words(texts)}, {{attr("pattern", pattern)}}, {truths(expected)}};
  };
  check_cases({
      row("abc", {"abc", "abcd", "ab"}, {1, 0, 0}),
      row("a|bc|", {"a", "bc", "", "b"}, {1, 1, 1, 0}),
      row("(ab)*c?", {"", "ababc", "aba"}, {1, 1, 0}),
      row("a{2,3}", {"a", "aa", "aaa", "aaaa"}, {0, 1, 1, 0}),
      row("a{2,}b{0}", {"a", "aaaaa", "aab"}, {0, 1, 0}),
      row("[a-c\\d_-]+", {"a9-_", "d", ""}, {1, 0, 0}),
      row("[^a-c]", {"d", "b", "\u00e4"}, {1, 0, 1}),
      row("(?P<user>\\w+)@(?:[a-z]+\\.)+com", {"me@mail.com", "me@com", "a.b@x.com"}, {1, 0, 0}),
      row("^\\bfoo\\b.bar$", {"foo bar", "foobar", "foo\nbar"}, {1, 0, 0}),
      row("\\x41\\x{e4}\\.", {"A\u00e4.", "A\u00e4x"}, {1, 0}),
      row("(a*)*(a|aa)+b", {std::string(200, 'a') + "b", std::string(200, 'a')}, {1, 0}),  // backtracking would not end
      row("{a}", {"{a}"}, {1}),
  });
  const auto bad = [](const char* pattern, const char* text) {
    return BadCase{"RegexFullMatch", {words({"a"})}, {{attr("pattern", pattern)}}, text};
  };
  check_errors({bad("(a", "unmatched ("), bad("a)", "unmatched )"), bad("*a", "repeat of nothing"),
                bad("a**", "repeat of a repeat"), bad("[a", "unfinished"), bad("a{3,2}", "impossible repeat"),
                bad("(?i)a", "not supported"), bad("\\pL", "not supported"),
                bad("((a{1000}){1000}){1000}", "too many states")});
}

TEST_CASE("TfIdfVectorizer counts n-grams, also with gaps") {
  const std::vector<Attr> attrs{attr("min_gram_length", 2),
                                attr("max_gram_length", 2),
                                attr("max_skip_count", 0),
                                attr("mode", "TF"),
                                attr("ngram_counts", std::vector<int64_t>{0, 4}),
                                attr("ngram_indexes", std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}),
                                attr("pool_int64s", std::vector<int64_t>{2, 3, 5, 4, 5, 6, 7, 8, 6, 7})};
  const Tensor text = tensor({12}, {1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}, DType::kI32);
  std::vector<Attr> gaps = attrs;
  gaps[2] = attr("max_skip_count", 5);
  std::vector<Attr> presence = attrs;
  presence[3] = attr("mode", "IDF");
  std::vector<Attr> weighted = attrs;
  weighted[3] = attr("mode", "TFIDF");
  weighted.push_back(attr("weights", std::vector<float>{1, 1, 1, 1, 2, 3, 4}));
  check_cases({
      {"TfIdfVectorizer", {text}, {attrs}, {tensor({7}, {0, 0, 0, 0, 1, 1, 1})}},
      {"TfIdfVectorizer", {text}, {gaps}, {tensor({7}, {0, 0, 0, 0, 1, 3, 1})}},
      {"TfIdfVectorizer", {text}, {presence}, {tensor({7}, {0, 0, 0, 0, 1, 1, 1})}},
      {"TfIdfVectorizer", {text}, {weighted}, {tensor({7}, {0, 0, 0, 0, 2, 3, 4})}},
      {"TfIdfVectorizer", {tensor({0}, {}, DType::kI64)}, {attrs}, {tensor({7}, {0, 0, 0, 0, 0, 0, 0})}},
  });
  std::vector<Attr> broken = attrs;
  broken[4] = attr("ngram_counts", std::vector<int64_t>{0, 40});
  check_errors({{"TfIdfVectorizer", {text}, {broken}, "does not fit the pool"}});
}

}  // namespace
}  // namespace mlopt::test
