#include "core/base/wire_fields.h"

#include "core/base/error.h"
#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/thrown.h"

using namespace mlopt;
using test::bytes;
using test::number;
using test::varint;

namespace {

void malformed() { input_error("malformed"); }

std::vector<WireField> fields_of(const std::string& message) {
  std::vector<WireField> found;
  WireFields fields(std::as_bytes(std::span(message)), malformed);
  for (WireField field; fields.next(field);) found.push_back(field);
  return found;
}

}  // namespace

TEST_CASE("the fields of a message are told one after the other") {
  const std::string message = number(1, 300) + bytes(2, "abc") + varint(3 << 3 | 5) + "1234" + varint(4 << 3 | 1) +
                              "12345678" + varint(5 << 3 | 3) + number(1, 7) + varint(5 << 3 | 4);
  const auto fields = fields_of(message);
  REQUIRE(fields.size() == 5);
  CHECK((fields[0].number == 1 && fields[0].type == kWireVarint && fields[0].varint == 300));
  CHECK((fields[1].payload.size() == 3 && static_cast<char>(fields[1].payload[0]) == 'a'));
  CHECK((fields[1].varint == 0 && fields[1].whole.size() == 5));
  CHECK((fields[2].type == kWireFixed32 && fields[2].payload.size() == 4));
  CHECK((fields[3].type == kWireFixed64 && fields[3].payload.size() == 8));
  CHECK((fields[4].type == kWireGroup && fields[4].number == 5 && fields[4].whole.size() == 4));
  CHECK(fields_of("").empty());
}

TEST_CASE("a message that ends too early or nests too deeply is malformed") {
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += varint(1 << 3 | 3);
  for (const std::string& message : {varint(1 << 3), varint(2 << 3 | 2) + varint(4) + "abc", varint(3 << 3 | 5) + "123",
                                     varint(4 << 3 | 1) + "1", varint(1 << 3 | 6), std::string(1, '\0'),
                                     std::string(11, '\xff'), varint(5 << 3 | 3) + varint(6 << 3 | 4), deep}) {
    CHECK(test::says(test::thrown_by([&] { fields_of(message); }), "malformed"));
  }
}
