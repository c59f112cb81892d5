#include "core/measure/machine.h"

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

}  // namespace mlopt
