#include "core/base/file.h"
#include "core/data/tokenizer.h"
#include "core/report/json.h"
#include "tests/support/catch.h"
#include "tests/support/paths.h"

using namespace mlopt;

namespace {

std::string file(const std::string& name) {
  return (test::source_dir() / "tests/core/data/tokenizers/files" / name).string();
}

std::vector<int64_t> integers(const Json& array) {
  std::vector<int64_t> values;
  for (const Json& item : array.items()) values.push_back(item.integer());
  return values;
}

}  // namespace

// files/make.py made the vocabularies, and the ids with the libraries `sentencepiece` and `tokenizers`.
TEST_CASE("texts become the ids that the reference libraries give") {
  const Json expected = Json::parse(read_file(file("expected.json")));
  const auto& texts = expected.find("texts")->items();
  REQUIRE(texts.size() > 30);
  for (const auto& [name, vocabulary] : {std::pair("unigram", "unigram.model"), std::pair("bpe", "bpe.model"),
                                         std::pair("uncased", "uncased.txt"), std::pair("cased", "cased.txt")}) {
    const Tokenizer tokenizer = open_tokenizer(file(vocabulary));
    const auto& ids = expected.find(name)->items();
    REQUIRE(ids.size() == texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      INFO(name << ": '" << texts[i].string() << "'");
      CHECK(tokenizer.encode(texts[i].string()) == integers(ids[i]));
    }
  }
}
