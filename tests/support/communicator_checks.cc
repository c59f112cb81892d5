#include "tests/support/communicator_checks.h"

#include <numeric>
#include <stdexcept>

#include "core/tensor/small_float.h"

namespace mlopt::test {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

/// Sums of `count` numbers; those of rank r are r + 1 times an integer that three ranks' halves hold exactly.
template <class T>
void check_sums(train::Communicator& ranks, DType type, size_t count, T (*from)(float), float (*to)(T)) {
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) values.push_back(from(static_cast<float>((ranks.rank() + 1) * (int(i % 15) - 7))));
  ranks.wait(ranks.begin_all_reduce(std::as_writable_bytes(std::span(values)), type));
  const int sum = ranks.size() * (ranks.size() + 1) / 2;
  for (size_t i = 0; i < count; ++i)
    require(to(values[i]) == static_cast<float>(sum * (int(i % 15) - 7)), "a sum is wrong");
}

void check_order(train::Communicator& ranks) {
  // Waited for in another order than they were begun in.
  std::vector<std::vector<float>> values;
  std::vector<train::Communicator::Request> requests;
  for (int k = 0; k < 3; ++k) values.emplace_back(100, static_cast<float>(k));
  for (auto& v : values) requests.push_back(ranks.begin_all_reduce(std::as_writable_bytes(std::span(v)), DType::kF32));
  for (const int k : {2, 0, 1}) {
    ranks.wait(requests[static_cast<size_t>(k)]);
    require(values[static_cast<size_t>(k)][99] == static_cast<float>(k * ranks.size()), "another reduction's sum");
  }
}

}  // namespace

void check_communicator(train::Communicator& ranks) {
  const auto same = [](float x) { return x; };
  for (const size_t count : {size_t{1}, size_t{1000}, size_t{300000}})
    check_sums<float>(ranks, DType::kF32, count, same, same);
  check_sums<double>(
      ranks, DType::kF64, 100, [](float x) { return static_cast<double>(x); },
      [](double x) { return static_cast<float>(x); });
  check_sums<Half>(ranks, DType::kF16, 5000, to_half, to_float);
  check_sums<BFloat16>(ranks, DType::kBF16, 5000, to_bfloat16, to_float);
  check_order(ranks);
  std::string bytes = ranks.rank() == 0 ? "from the first" : "..............";
  ranks.wait(ranks.begin_broadcast(std::as_writable_bytes(std::span(bytes))));
  require(bytes == "from the first", "a broadcast is wrong");
  const auto parts = train::gather(ranks, std::string(static_cast<size_t>(ranks.rank()), 'x'));
  require(static_cast<int>(parts.size()) == ranks.size(), "a part is missing");
  for (size_t r = 0; r < parts.size(); ++r) require(parts[r] == std::string(r, 'x'), "a part is wrong");
}

}  // namespace mlopt::test
