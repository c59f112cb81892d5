#include "core/data/spec.h"

#include "core/data/spec_options.h"
#include "tests/support/catch.h"
#include "tests/support/thrown.h"

namespace mlopt {

TEST_CASE("a data spec round-trips, its options in the order of application") {
  for (const std::string text :
       {"random", "random:16", "data/", "x.npz,limit=10", "dir/test_data_set_0",
        "images:val/,resize=256,crop=224,mean=0.485/0.456/0.406,std=0.229/0.224/0.225",
        "images:a.tar,labels=l.tsv,resize=240x320,gray,bgr,scale=2,layout=nhwc,limit=7,per-class=3,every=2,shuffle,"
        "split=0.5:1",
        "idx:a.gz,b.gz,scale=0.25,split=100:200", "idx:a.gz,every=3", "csv:t.csv,label=y,ignore=id/name",
        "bytes:t.txt,length=64", "text:t.csv,text=title/body,label=class,vocab=v.txt,max-len=64,limit=5,split=0.5:1",
        "text:t.csv,vocab=a\\,b,special=begin/end,ids=fairseq", "images:with\\, comma,limit=1"}) {
    INFO(text);
    const DataSpec spec = parse_data_spec(text);
    CHECK(print(spec) == text);
    CHECK(parse_data_spec(print(spec)) == spec);
  }
  CHECK(print(parse_data_spec("images:d,split=0:1,crop=8,resize=9x10")) == "images:d,resize=9x10,crop=8,split=0:1");
}

TEST_CASE("what a data spec says is understood") {
  const DataSpec images =
      parse_data_spec("images:val/,resize=256,crop=224,bgr,mean=103.94/116.78/123.68,scale=1,every=2");
  CHECK(images.kind == DataKind::kImages);
  CHECK(images.path == "val/");
  CHECK(images.transforms.resize == std::array<int64_t, 2>{256, 0});
  CHECK(images.transforms.crop == 224);
  CHECK(images.transforms.bgr);
  CHECK(images.transforms.mean == std::vector<double>{103.94, 116.78, 123.68});
  CHECK(images.transforms.scale == 1.0);
  CHECK(images.selection.every == 2);
  const DataSpec idx = parse_data_spec("idx:images.gz,labels.gz,limit=5");
  CHECK(idx.path == "images.gz");
  CHECK(idx.labels == "labels.gz");
  CHECK(parse_data_spec("idx:images.gz,gray").labels.empty());
  CHECK(parse_data_spec("./random").kind == DataKind::kArrays);
  CHECK(parse_data_spec("images:a\\,b\\\\c").path == "a,b\\c");
}

TEST_CASE("mistakes in a data spec are usage errors with a suggestion") {
  const auto wrong = [](const std::string& text) {
    const Error error = test::thrown_by([&] { parse_data_spec(text); });
    CHECK(error.code == Code::kUsage);
    return std::string(error.what());
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(wrong("image:val/"), Contains("did you mean 'images'"));
  CHECK_THAT(wrong("images:val/,rezise=3"), Contains("did you mean 'resize'"));
  CHECK_THAT(wrong("images:val/,resize=0"), Contains("'0' is no value for resize=S or HxW"));
  CHECK_THAT(wrong("images:val/,resize"), Contains("is written resize="));
  CHECK_THAT(wrong("images:val/,gray=1"), Contains("'gray' is written gray"));
  CHECK_THAT(wrong("images:val/,limit=1,limit=2"), Contains("given twice"));
  CHECK_THAT(wrong("images:"), Contains("path is missing"));
  CHECK_THAT(wrong("csv:t.csv,crop=3"), Contains("unknown option 'crop'"));
  CHECK_THAT(wrong("random:0"), Contains("no number of batches"));
  CHECK_THAT(wrong("random,limit=3"), Contains("it takes no options"));
  CHECK_THAT(wrong("images:d,std=0.5/0"), Contains("no value for std"));
  CHECK_THAT(wrong("images:d,split=0.9:0.5"), Contains("no value for split"));
  CHECK_THAT(wrong("images:d,split=1.5:3"), Contains("no value for split"));
  CHECK_THAT(wrong("images:d,mean=1//2"), Contains("no value for mean"));
  CHECK_THAT(wrong("images:d,scale=inf"), Contains("no value for scale"));
  CHECK_THAT(wrong(""), Contains("path is missing"));
  CHECK_THAT(wrong("text:a.csv"), Contains("the vocabulary is missing"));
  CHECK_THAT(wrong("text:a.csv,vocab=v,max-len=0"), Contains("no value for max-len=N"));
  CHECK_THAT(wrong("text:a.csv,vocab=v,special=start"), Contains("no value for special=begin/end, begin, end or none"));
  CHECK_THAT(wrong("text:a.csv,vocab=v,ids=t5"), Contains("no value for ids"));
  CHECK_THAT(wrong("text:a.csv,vocab=v,mean=1"), Contains("unknown option 'mean'"));
  CHECK_THAT(wrong("csv:a.csv,vocab=v"), Contains("unknown option 'vocab'"));
}

}  // namespace mlopt
