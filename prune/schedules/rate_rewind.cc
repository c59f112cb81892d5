#include "prune/schedules/rewinding.h"

namespace mlopt::prune {

ScheduleParts rate_rewind(const ScheduleSetting& setting) { return rewinding(setting, false); }

}  // namespace mlopt::prune
