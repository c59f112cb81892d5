#include "core/measure/machine.h"

#include "core/measure/memory.h"
#include "tests/support/catch.h"

namespace mlopt {

TEST_CASE("the machine is described") {
  const Machine machine = describe_machine();
  CHECK(!machine.cpu.empty());
  CHECK(machine.logical_cpus >= machine.usable_cpus);
  CHECK(machine.usable_cpus >= 1);
  CHECK(machine.memory_bytes > 1 << 20);
  CHECK(machine.kernel.find(' ') != std::string::npos);
  CHECK(!machine.governor.empty());
  CHECK((machine.turbo == "on" || machine.turbo == "off" || machine.turbo == "unknown"));
  CHECK(measure_noise() >= 0);
}

TEST_CASE("the peak memory of other work leaves this process as it is") {
  const int64_t before = peak_memory();
  REQUIRE(before > 0);
  constexpr size_t kBytes = size_t{300} << 20;
  const auto peak = peak_memory_of([] {
    std::vector<char> large(kBytes, 1);
    volatile char sink = large[kBytes / 2];
    (void)sink;
  });
  REQUIRE(peak.has_value());
  CHECK(*peak > static_cast<int64_t>(kBytes));
  CHECK(*peak < static_cast<int64_t>(kBytes) + before + (int64_t{64} << 20));
  CHECK(peak_memory() < before + static_cast<int64_t>(kBytes) / 2);
  CHECK(!peak_memory_of([] { throw 1; }).has_value());
}

}  // namespace mlopt
