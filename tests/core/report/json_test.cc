#include "core/report/json.h"

#include <limits>

#include "core/base/error.h"
#include "tests/support/catch.h"

using namespace mlopt;

TEST_CASE("objects keep their order and values their type") {
  Json json;
  json["z"] = 1;
  json["a"] = 2.5;
  json["list"].push_back("text");
  json["list"].push_back(true);
  json["list"].push_back(Json());
  const std::string text = json.dump();
  CHECK(text == "{\n  \"z\": 1,\n  \"a\": 2.5,\n  \"list\": [\n    \"text\",\n    true,\n    null\n  ]\n}");
  CHECK(Json::parse(text).dump() == text);
  CHECK(Json::parse("{\"n\": 9007199254740993}").find("n")->integer() == 9007199254740993);
}

TEST_CASE("what JSON cannot hold is replaced") {
  CHECK(Json(std::numeric_limits<double>::infinity()).dump() == "null");
  CHECK(Json(std::string("a\xff"
                         "b"))
            .dump() ==
        "\"a\xEF\xBF\xBD"
        "b\"");
}

TEST_CASE("wrong JSON and wrong types are errors") {
  CHECK_THROWS_AS(Json::parse("{\"a\": }"), Error);
  CHECK_THROWS_AS(Json::parse(std::string(100000, '[')), Error);
  CHECK_THROWS_AS(Json("text").number(), Error);
  CHECK_THROWS_AS(Json(1).string(), Error);
  CHECK_THROWS_AS(Json(1.5).integer(), Error);
  CHECK_THROWS_AS(Json().boolean(), Error);
  CHECK(Json(1).find("a") == nullptr);
  CHECK(Json(1).items().empty());
}
