#pragma once

namespace mlopt {

/// Processors that this process may use: the least of its affinity mask and the quota of its control group (versions 1
/// and 2, the whole way up to the root), rounded up; at least 1.
int available_cpus();

/// The same of the process that started this one: processors that those which it started may use together.
int launcher_cpus();

}  // namespace mlopt
