#pragma once
#include <string>
#include <vector>

namespace mlopt {

/// Processors that this process may use: the least of its affinity mask and the quota of its control group (versions 1
/// and 2, the whole way up to the root), rounded up; at least 1.
int available_cpus();

/// The same of the process that started this one: processors that those which it started may use together.
int launcher_cpus();

/// The first of `cpus` on each core, in their order, as `folder` (Linux's /sys/devices/system/cpu) tells which share
/// one; all of them where it does not tell.
std::vector<int> first_of_each_core(const std::vector<int>& cpus, const std::string& folder);

/// Keeps this process and what it starts to one processor of each core, where so many threads have a core each: two on
/// one core would share its units, and time would depend on where they happen to be. To be called before threads start.
void keep_to_cores(int threads);

}  // namespace mlopt
