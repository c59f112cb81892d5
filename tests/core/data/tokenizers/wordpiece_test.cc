#include "core/data/tokenizers/wordpiece.h"

#include "tests/support/catch.h"
#include "tests/support/thrown.h"

using namespace mlopt;

namespace {

using Ids = std::vector<int64_t>;

const std::string kSpecials = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";  // 0 to 3

Ids encode(const std::string& words, const std::string& text) {
  return wordpiece_tokenizer(kSpecials + words, "v.txt").encode(text);
}

}  // namespace

TEST_CASE("words are cut greedily into the longest entries") {
  const std::string words = "un\naff\n##aff\n##able\n##a\nunaf\n";  // 4 to 9
  CHECK(encode(words, "unaffable") == Ids{1});  // unaf, then nothing begins with f: the word is unknown
  CHECK(encode(words, "unaaable") == Ids{4, 8, 8, 7});
  CHECK(encode(words, "un aff unxx aff") == Ids{4, 5, 1, 5});
  CHECK(encode(words, "").empty());
}

TEST_CASE("punctuation and ideographs stand alone, controls go") {
  const std::string words = "a\nb\n.\n\xe4\xb8\x80\n##b\n";  // 4 to 8
  CHECK(encode(words, "a.b...") == Ids{4, 6, 5, 6, 6, 6});
  CHECK(encode(words,
               "a\xe4\xb8\x80"
               "b") == Ids{4, 7, 5});
  CHECK(encode(words,
               "a\x01"
               "b\xff\xe2\x80\x8b") == Ids{4, 8});
  CHECK(encode(words,
               "a\xc2\xa0"
               "b") == Ids{4, 5});
}

TEST_CASE("case and accents count where an entry has an upper-case letter") {
  CHECK(encode("ecole\n",
               "\xc3\x89"
               "COLE") == Ids{4});
  CHECK(encode("ecole\nA\n",
               "\xc3\x89"
               "COLE A") == Ids{1, 5});
  CHECK(encode("<S>\n[MASK]\nab\n", "AB") == Ids{6});  // specials are no words
}

TEST_CASE("a word of more than 100 characters is unknown") {
  const std::string words = "a\n##a\n";
  CHECK(encode(words, std::string(100, 'a')).size() == 100);
  CHECK(encode(words, std::string(101, 'a')) == Ids{1});
}

TEST_CASE("a vocabulary's special tokens are found, or missed by name") {
  const Tokenizer t = wordpiece_tokenizer("a\r\n\r\n[SEP]\r\n[CLS]\r\n[UNK]\r\n[PAD]", "v.txt");
  CHECK((t.begin == 3 && t.end == 2 && t.pad == 5 && t.size == 6 && t.adds_begin && t.adds_end));
  CHECK(t.encode("a b") == Ids{0, 4});
  for (const std::string missing : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) {
    std::string words = kSpecials + "a\n";
    words.erase(words.find(missing), missing.size());
    const Error error = test::thrown_by([&] { wordpiece_tokenizer(words, "v.txt"); });
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, "no token '" + missing + "': v.txt"));
  }
  CHECK(test::thrown_by([&] { wordpiece_tokenizer("", "v.txt"); }).code == Code::kBadInput);
}
