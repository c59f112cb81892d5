#include "core/train/communicator.h"

#include <algorithm>

#include "core/base/error.h"

namespace mlopt::train {

std::shared_ptr<StateSums> Communicator::state_sums(std::vector<std::string>, int64_t) { return nullptr; }

void Communicator::add_up_state(StateStore&, std::span<const std::string>) {
  internal_error("no device adds up a state");
}

void all_reduce(Communicator& ranks, std::span<float> values) {
  ranks.wait(ranks.begin_all_reduce(std::as_writable_bytes(values), DType::kF32));
}

std::vector<std::string> gather(Communicator& ranks, std::string_view mine) {
  const auto count = static_cast<size_t>(ranks.size());
  const std::vector<int64_t> size = {static_cast<int64_t>(mine.size())};
  std::vector<int64_t> sizes(count);
  ranks.wait(ranks.begin_all_gather(std::as_bytes(std::span(size)), std::as_writable_bytes(std::span(sizes))));
  const auto most = static_cast<size_t>(*std::max_element(sizes.begin(), sizes.end()));
  std::string padded(mine), all(most * count, '\0');
  padded.resize(most);
  if (most > 0)
    ranks.wait(ranks.begin_all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all))));
  std::vector<std::string> parts;
  for (size_t r = 0; r < count; ++r) parts.push_back(all.substr(r * most, static_cast<size_t>(sizes[r])));
  return parts;
}

}  // namespace mlopt::train
