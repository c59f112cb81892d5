#include "core/data/csv.h"

#include "core/data/open.h"
#include "core/tensor/cast.h"
#include "tests/support/catch.h"
#include "tests/support/inputs.h"
#include "tests/support/temp_dir.h"
#include "tests/support/thrown.h"

namespace mlopt {
namespace {

struct Opened {
  test::TempDir folder;
  std::unique_ptr<Dataset> data;

  Opened(const std::string& text, const InputSpec& input, const std::string& options = "") {
    const std::string path = folder.write("t.csv", text);
    data = open_dataset(parse_data_spec("csv:" + path + options), {input}, {});
  }
};

Error refused(const std::string& text, const InputSpec& input, const std::string& options = "") {
  return test::thrown_by([&] {
    const Opened opened(text, input, options);
    for (int64_t i = 0; i < opened.data->size(); ++i) opened.data->batch(i, 1);
  });
}

const InputSpec kTwo = test::input("x", DType::kF32, {-1, 2});

}  // namespace

TEST_CASE("cells may be quoted") {
  CHECK(csv_words("a, b ,\"c,d\",\"say \"\"hi\"\"\",", ',') ==
        std::vector<std::string>{"a", "b", "c,d", "say \"hi\"", ""});
  CHECK(csv_separator("a;b;c,d") == ';');
  CHECK(csv_separator("1,\"a;b;c;d\",2") == ',');
  CHECK(csv_separator("\"a,b,c\";2") == ';');
}

TEST_CASE("spaces are part of a text, those around quotes are not") {
  CHECK(csv_cells(" a,\" b \" , \"c\"\r", ',') == std::vector<std::string>{" a", " b ", "c"});
  CHECK(csv_cells("\" \"\" \",\"d\" e ", ',') == std::vector<std::string>{" \" ", "d e "});
}

TEST_CASE("a quote inside a text is a character") {
  CHECK(csv_cells("5\" disk,say \"hi\",\"a\"b\"", ',') == std::vector<std::string>{"5\" disk", "say \"hi\"", "ab\""});
  CHECK(csv_cells("x\t\"\"\t\"\"\"\"", '\t') == std::vector<std::string>{"x", "", "\""});
  const test::TempDir folder;
  const auto records = [&](const std::string& text) {
    std::vector<std::string> found;
    for_each_record(*open_source(folder.write("q.csv", text)), [&](const CsvRecord& r) { found.push_back(r.text); });
    return found;
  };
  CHECK(records("1\tfine\n2\the said, \"yes\n3\t3\" more\n").size() == 3);
  CHECK(records("1,\"two\nlines\"\n2, \"a\"\"\nb\"\n").size() == 2);
  CHECK(records("\xef\xbb\xbf\"two\nlines\",1\n") == std::vector<std::string>{"\"two\nlines\",1"});
  CHECK(records("\xef\xbb\xbf"
                "1\n\xef\xbb\xbf"
                "2\n") == std::vector<std::string>{"1",
                                                   "\xef\xbb\xbf"
                                                   "2"});
}

TEST_CASE("rows, a header, words as classes in sorted order") {
  const Opened opened("a,b,kind\n1,2,pear\n\n3.5,-4,apple\r\n5,6,pear\n", kTwo);
  REQUIRE(opened.data->size() == 3);
  const Batch batch = opened.data->batch(0, 3);
  CHECK(to_doubles(batch.inputs[0].tensor()) == std::vector<double>{1, 2, 3.5, -4, 5, 6});
  CHECK(batch.inputs[0].tensor().dtype() == DType::kF32);
  CHECK(to_ints(*batch.labels) == std::vector<int64_t>{1, 0, 1});
  CHECK(opened.data->name_of(1).find("line 4") != std::string::npos);
  const Opened marked("\xef\xbb\xbf 1, +2 ,\" pear \"\n3,4,pear\n", kTwo);
  CHECK(to_doubles(marked.data->batch(0, 2).inputs[0].tensor()) == std::vector<double>{1, 2, 3, 4});
  CHECK(to_ints(*marked.data->batch(0, 2).labels) == std::vector<int64_t>{0, 0});
}

TEST_CASE("without a header, with numbers as classes, and with numbers as targets") {
  const Opened classes("1,2,0\n3,4,2\n", kTwo);
  CHECK(to_ints(*classes.data->batch(0, 2).labels) == std::vector<int64_t>{0, 2});
  const Opened targets("1,2,0.5\n3,4,2\n", kTwo);
  CHECK(to_doubles(*targets.data->batch(0, 2).labels) == std::vector<double>{0.5, 2});
}

TEST_CASE("columns are chosen by name and by index") {
  const std::string text = "id,label,a,note,b\n1,7,0.5,x,0.25\n2,8,1,y,2\n";
  const Opened by_name(text, kTwo, ",label=label,ignore=note/id");
  CHECK(to_doubles(by_name.data->batch(1, 1).inputs[0].tensor()) == std::vector<double>{1, 2});
  CHECK(to_ints(*by_name.data->batch(1, 1).labels) == std::vector<int64_t>{8});
  const Opened by_index(text, kTwo, ",label=1,ignore=-2/0");
  CHECK(to_doubles(by_index.data->batch(0, 1).inputs[0].tensor()) == std::vector<double>{0.5, 0.25});
  const Opened unlabelled("1,2\n", kTwo, ",label=none");
  CHECK(!unlabelled.data->labelled());
}

TEST_CASE("a first row of numbers in which one is damaged is no header") {
  for (const char* row : {"1,x2,0\n3,4,1\n", ",2,0\n3,4,1\n", "1,,0\n3,4,1\n"}) {
    INFO(row);
    const Error error = refused(row, kTwo);
    CHECK(error.code == Code::kBadInput);
    CHECK(test::says(error, "of the first row is not a number"));
  }
  CHECK(test::says(refused("1,x2,0\n3,4,1\n", kTwo), "'x2' in column 1"));
  const Opened counted(",0,1,2\n9,1,2,0\n", kTwo);
  CHECK(counted.data->size() == 1);
  const Opened named("7,b,kind\n1,2,0\n", kTwo, ",label=kind");
  CHECK(named.data->size() == 1);
}

TEST_CASE("a column that numbers the rows is no feature where the model has no room for it") {
  const Opened opened("Id,a,b,y\n1,10,20,0\n2,30,40,1\n", kTwo);
  CHECK(to_doubles(opened.data->batch(0, 1).inputs[0].tensor()) == std::vector<double>{10, 20});
  const Opened with_room("Id,a,b,y\n1,10,20,0\n", test::input("x", DType::kF32, {-1, 3}));
  CHECK(to_doubles(with_room.data->batch(0, 1).inputs[0].tensor()) == std::vector<double>{1, 10, 20});
}

TEST_CASE("a table that does not fit names the line or the columns") {
  CHECK(test::says(refused("a,b,y\n1,2,0\n1,nan,0\n", kTwo), "'nan' in column 'b'"));
  CHECK(test::says(refused("a,b,y\n1,2,0\n1,inf,0\n", kTwo), "line 3"));
  CHECK(test::says(refused("a,b,y\n1,2,0\n1,x,0\n", kTwo), "'x' in column 'b'"));
  CHECK(test::says(refused("a,b,y\n1,2\n", kTwo), "2 cells, the first row has 3"));
  CHECK(test::says(refused("a,b,y\n1,2,\n", kTwo), "the label is missing"));
  CHECK(test::says(refused("a,b,c,y\n1,2,3,0\n", kTwo), "3 columns of features (a, b, c)"));
  CHECK(test::says(refused("a,b,y\n", kTwo), "no rows"));
  CHECK(test::says(refused("", kTwo), "no rows"));
  CHECK(test::says(refused("a,b,kind\n1,2,0\n", kTwo, ",label=kin"), "did you mean 'kind'"));
  CHECK(refused("a,b,y\n1,2,0\n", test::input("x", DType::kI64, {-1, 3})).code == Code::kBadInput);
  CHECK(test::says(refused("a,b,y\n1,2.5,0\n", test::input("x", DType::kI64, {-1, 2})), "2.5 is no int64"));
}

}  // namespace mlopt
