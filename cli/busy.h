#pragma once
#include <string_view>

namespace mlopt::cli {

/// Would one of `threads` threads of ours have to wait for a processor? `loadavg` is what /proc/loadavg says while one
/// thread of ours runs, `processors` how many are online.
bool is_busy(std::string_view loadavg, int processors, int threads);

/// GNU's OpenMP lets a thread that waits for its team spin for about 15 ms before it sleeps. On a machine that others
/// use too, it so keeps the processor from the very thread that it waits for: runs take up to ten times as long. The
/// library reads the limit from the environment when it is loaded, before main(). So, where the machine is busy and the
/// user has chosen nothing, this sets a short one and starts the program again. Returns when there is nothing to do.
void spin_briefly_when_busy(char** argv);

}  // namespace mlopt::cli
