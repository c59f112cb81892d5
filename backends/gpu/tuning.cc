#include "backends/gpu/tuning.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sstream>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"

namespace mlopt::gpu {
namespace {

std::string default_folder() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if (cache && *cache) return std::string(cache) + "/mlopt";
  return home && *home ? std::string(home) + "/.cache/mlopt" : "";
}

constexpr std::string_view kEnd = "end ";

/// The last line of a file of this text.
std::string ending(const std::string& text) {
  Hash hash;
  hash.add(std::as_bytes(std::span(text)));
  return fmt::format("{}{}\n", kEnd, hash.digest());
}

/// What algorithms depend on.
std::string header_of(Device device) {
  DeviceInfo info{};
  check(device.api->describe(device.index, &info), "the device");
  Sensors sensors{};
  if (device.api->sense(device.index, &sensors)) sensors.driver[0] = 0;
  return fmt::format("mlopt products 2; {}; {}.{}; CUDA {} {}; driver {}; cuBLASLt {}; cuDNN {}", info.name, info.major,
                     info.minor, info.driver, info.runtime, sensors.driver, info.cublas, device.api->conv_version());
}

std::string file_name(std::string header) {
  std::replace_if(
      header.begin(), header.end(), [](unsigned char c) { return !std::isalnum(c) && c != '.'; }, '-');
  return header + ".txt";
}

}  // namespace

Tuning::Tuning(Device device, std::string folder) : header_(header_of(device)) {
  if (folder.empty()) folder = default_folder();
  if (folder.empty()) return;
  path_ = folder + "/" + file_name(header_);
  known_ = stored();
}

/// A header; a line of numbers for each product; the digest of all that.
std::map<Tuning::Product, Tuning::Algorithm> Tuning::stored() const {
  std::map<Product, Algorithm> all;
  std::string text;
  try {
    text = read_file(path_);
  } catch (const Error&) {  // none yet
    return all;
  }
  const size_t end = text.rfind(kEnd);
  if (end == std::string::npos || text.substr(end) != ending(text.substr(0, end))) return all;
  std::istringstream in(text.substr(0, end));
  std::string line;
  if (!std::getline(in, line) || line != header_) return all;
  while (std::getline(in, line)) {
    std::istringstream numbers(line);
    Product product;
    Algorithm algorithm;
    for (int64_t& number : product) numbers >> number;
    for (uint64_t& number : algorithm) numbers >> number;
    if (numbers) all[product] = algorithm;
  }
  return all;
}

void Tuning::write() {
  if (path_.empty()) return;
  known_.merge(stored());  // what other processes have added meanwhile
  std::string text = header_ + "\n";
  for (const auto& [product, algorithm] : known_)
    text += fmt::format("{} {}\n", fmt::join(product, " "), fmt::join(algorithm, " "));
  try {
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    AtomicFile file(path_);
    file.write(text + ending(text));
    file.commit();
  } catch (const Error&) {  // found again next time
  } catch (const std::filesystem::filesystem_error&) {
  }
}

void Tuning::begin(WorkQueue& queue) {
  const std::lock_guard lock(mutex_);
  std::vector<Choice> choices(known_.size());
  size_t i = 0;
  for (const auto& [product, algorithm] : known_) {
    std::copy(product.begin(), product.end(), choices[i].product);
    std::copy(algorithm.begin(), algorithm.end(), choices[i++].algorithm);
  }
  queue.api().tune(&queue.get(), choices.data(), static_cast<int64_t>(choices.size()));
}

void Tuning::note(WorkQueue& queue) {
  std::vector<Choice> choices(static_cast<size_t>(queue.api().chosen(&queue.get(), nullptr)));
  if (choices.empty()) return;
  queue.api().chosen(&queue.get(), choices.data());
  const std::lock_guard lock(mutex_);
  bool news = false;
  for (const Choice& choice : choices) {
    Product product;
    Algorithm algorithm;
    std::copy(std::begin(choice.product), std::end(choice.product), product.begin());
    std::copy(std::begin(choice.algorithm), std::end(choice.algorithm), algorithm.begin());
    Algorithm& known = known_[product];
    news = news || known != algorithm;
    known = algorithm;
  }
  if (news) write();
}

}  // namespace mlopt::gpu
