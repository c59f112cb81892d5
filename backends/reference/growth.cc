#include "backends/reference/growth.h"

#include <fmt/core.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace mlopt::reference {
namespace {

constexpr int64_t kLarge = int64_t{32} << 20;
constexpr int kMostLeaps = 4;

int64_t bytes_of(const Datum& value) {
  int64_t bytes = 0;
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    bytes = static_cast<int64_t>(tensor.bytes());
    if (tensor.dtype() != DType::kString) return bytes;
    for (const std::string& text : tensor.strings()) bytes += static_cast<int64_t>(sizeof text + text.size());
  } else if (!value.is_none()) {
    for (const Datum& item : value.items()) bytes += bytes_of(item);
  }
  return bytes;
}

}  // namespace

void Growth::check(const Call& call, std::span<const Datum> carried) {
  const int64_t before = bytes_;
  bytes_ = 0;
  for (const Datum& value : carried) bytes_ += bytes_of(value);
  if (bytes_ < kLarge || bytes_ <= before + before / 2 || ++leaps_ <= kMostLeaps) return;
  unsupported_error(
      fmt::format("what the loop carries keeps growing, and has reached {}", format_bytes(static_cast<double>(bytes_))),
      call.view.node().label(), "see whether its body is meant to join a value with itself in every iteration");
}

}  // namespace mlopt::reference
