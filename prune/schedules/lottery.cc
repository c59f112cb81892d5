#include "prune/schedules/rewinding.h"

namespace mlopt::prune {

ScheduleParts lottery(const ScheduleSetting& setting) { return rewinding(setting, true); }

}  // namespace mlopt::prune
