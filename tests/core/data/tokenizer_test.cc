#include "core/data/tokenizer.h"

#include "tests/support/catch.h"
#include "tests/support/pieces.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using Ids = std::vector<int64_t>;

TEST_CASE("rows have one length: texts are cut off before the last special token, or padded") {
  Tokenizer t;
  t.encode = [](std::string_view text) { return Ids(text.begin(), text.end()); };
  t.begin = 1;
  t.end = 2;
  t.pad = 9;
  t.adds_begin = t.adds_end = true;
  CHECK(token_row(t, "ab", 6).ids == Ids{1, 'a', 'b', 2, 9, 9});
  CHECK(token_row(t, "ab", 6).used == 4);
  CHECK(token_row(t, "abcdefg", 5).ids == Ids{1, 'a', 'b', 'c', 2});
  CHECK(token_row(t, "abcdefg", 5).used == 5);
  CHECK(token_row(t, "", 3).ids == Ids{1, 2, 9});
  t.adds_begin = t.adds_end = false;
  CHECK(token_row(t, "abc", 2).ids == Ids{'a', 'b'});
}

TEST_CASE("a text is a WordPiece vocabulary, anything else a SentencePiece model") {
  const test::TempDir folder;
  const std::string words = folder.write("v", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n");
  CHECK(open_tokenizer(words).encode("a") == Ids{4});
  const std::string model = folder.write("m", test::unknown_piece() + test::piece("\xe2\x96\x81"
                                                                                  "a",
                                                                                  -1));
  CHECK(open_tokenizer(model).encode("a") == Ids{1});
  const auto refused = [](const std::string& path, std::optional<IdLayout> layout = {}) {
    const Error error = test::thrown_by([&] { open_tokenizer(path, layout); });
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, path));
    return error;
  };
  CHECK(test::says(refused(folder.write("zeros", std::string(100, '\0'))), "nor a SentencePiece model"));
  CHECK(test::says(refused(folder.write("json", "{\"model\": {}}")), "no token '[UNK]'"));
  CHECK(test::says(refused(words, IdLayout::kFairseq), "ids= is for SentencePiece models"));
  refused(folder / "none");
}
