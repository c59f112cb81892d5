#include "core/base/cpus.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <thread>

namespace mlopt {
namespace {

/// Of a process; 0: this one.
int affinity_count(pid_t process) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(process, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));  // more processors than cpu_set_t holds
}

/// Processors by "cpu.max" ("200000 100000" or "max 100000"); 0: no limit.
double quota_v2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  double quota = 0, period = 0;
  return file >> quota >> period && period > 0 ? quota / period : 0;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us"), period_file(folder + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  return quota_file >> quota && period_file >> period && quota > 0 && period > 0 ? quota / period : 0;
}

/// The least quota of the group `path` and of its ancestors; 0: none has one.
double least_quota(const std::string& mount, std::string path, double (*quota)(const std::string&)) {
  double least = 0;
  while (true) {
    const double limit = quota(mount + path);
    if (limit > 0 && (least == 0 || limit < least)) least = limit;
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return least;
    path.resize(slash);
  }
}

/// From /proc/self/cgroup: lines "0::/path" (version 2) or "3:cpu,cpuacct:/path" (version 1).
double control_group_quota() {
  std::ifstream groups("/proc/self/cgroup");
  double least = 0;
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    double limit = 0;
    if (controllers == ",,") limit = least_quota("/sys/fs/cgroup", path, quota_v2);
    if (controllers.find(",cpu,") != std::string::npos) limit = least_quota("/sys/fs/cgroup/cpu", path, quota_v1);
    if (limit > 0 && (least == 0 || limit < least)) least = limit;
  }
  return least;
}

/// `count`, or the quota where that is less.
int within_quota(int count) {
  const double quota = control_group_quota();
  return quota > 0 ? std::clamp(static_cast<int>(std::ceil(quota)), 1, count) : count;
}

}  // namespace

int available_cpus() { return within_quota(affinity_count(0)); }

int launcher_cpus() { return within_quota(affinity_count(::getppid())); }

std::vector<int> first_of_each_core(const std::vector<int>& cpus, const std::string& folder) {
  std::set<std::string> seen;
  std::vector<int> first;
  for (const int cpu : cpus) {
    std::ifstream file(folder + "/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::string siblings;
    if (!std::getline(file, siblings) || seen.insert(siblings).second) first.push_back(cpu);
  }
  return first;
}

void keep_to_cores(int threads) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return;  // more processors than cpu_set_t holds
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  const std::vector<int> kept = first_of_each_core(cpus, "/sys/devices/system/cpu");
  if (kept.size() == cpus.size() || static_cast<size_t>(threads) > kept.size()) return;
  CPU_ZERO(&set);
  for (const int cpu : kept) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);  // in vain where the system forbids it: nothing depends on it
}

}  // namespace mlopt
