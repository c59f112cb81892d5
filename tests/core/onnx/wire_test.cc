#include "core/onnx/wire.h"

#include "tests/support/catch.h"
#include "tests/support/error.h"
#include "tests/support/message.h"

using namespace mlopt;
using mlopt::test::bytes;
using mlopt::test::error_of;
using mlopt::test::number;

namespace {

wire::Bytes view(const std::string& text) { return std::as_bytes(std::span(text)); }

wire::Skeleton split(const std::string& message, wire::Message kind = wire::Message::kModel) {
  return wire::split(view(message), kind);
}

std::string splice(const wire::Skeleton& skeleton) {
  const wire::Spliced spliced(skeleton.bytes, wire::Message::kModel, skeleton.blobs);
  std::string out;
  spliced.write([&](wire::Bytes piece) { out.append(reinterpret_cast<const char*>(piece.data()), piece.size()); });
  CHECK(out.size() == spliced.size());
  return out;
}

std::string tensor(size_t size, char fill) { return number(2, 2) + bytes(8, "w") + bytes(9, std::string(size, fill)); }

}  // namespace

TEST_CASE("large raw data are taken out wherever tensors are, and put back") {
  const std::string initializer = bytes(5, tensor(5000, 'a'));
  const std::string body = bytes(5, tensor(1024, 'b')) + bytes(2, "body");
  const std::string attribute = bytes(1, "then") + bytes(6, body) + bytes(5, tensor(3000, 'c'));
  const std::string list = bytes(10, tensor(2000, 'd')) + bytes(10, tensor(7, 'e'));
  const std::string node = bytes(4, "If") + bytes(5, attribute) + bytes(5, list);
  const std::string message = number(1, 10) + bytes(7, bytes(1, node) + initializer) + bytes(25, bytes(7, node));
  const wire::Skeleton skeleton = split(message);
  CHECK(skeleton.blobs.size() == 7);
  CHECK(skeleton.bytes.size() < 400);
  CHECK(skeleton.blobs[2].size() == 2000);
  CHECK(skeleton.blobs[2].data() >= view(message).data());
  CHECK(splice(skeleton) == message);
}

TEST_CASE("what is small, unknown or elsewhere stays where it is") {
  const std::string group = mlopt::test::varint(40 << 3 | 3) + number(1, 7) + mlopt::test::varint(40 << 3 | 4);
  const std::string message = bytes(7, bytes(5, tensor(1023, 'a')) + bytes(15, bytes(1, tensor(4000, 's')))) +
                              bytes(20, bytes(1, bytes(5, tensor(4000, 't')))) + bytes(99, "unknown") + group +
                              mlopt::test::varint(41 << 3 | 5) + "1234" + mlopt::test::varint(42 << 3 | 1) + "12345678";
  const wire::Skeleton skeleton = split(message);
  CHECK(skeleton.blobs.empty());
  CHECK(skeleton.bytes == message);
}

TEST_CASE("a file cannot pretend to have outside data") {
  const std::string forged = number(wire::kBlobField, 0);
  const wire::Skeleton skeleton = split(bytes(7, bytes(5, bytes(8, "w") + forged)));
  CHECK(skeleton.bytes == bytes(7, bytes(5, bytes(8, "w"))));
}

TEST_CASE("bytes that are no message are refused") {
  for (const std::string& wrong :
       {std::string("\xff"), bytes(7, "x").substr(0, 2), std::string("\x3b"), std::string("\x07"), std::string(1, '\0'),
        std::string(11, '\xff') + "\x01", std::string("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11)})
    CHECK_FALSE(error_of([&] { split(wrong); }).empty());
  std::string deep;
  for (int i = 0; i < 60; ++i) deep = bytes(1, bytes(5, bytes(6, deep)));
  CHECK(test::contains(error_of([&] { split(bytes(7, deep)); }), "nested too deeply"));
  CHECK_FALSE(error_of([&] { split(std::string(100'000, '\x3b')); }).empty());
}
