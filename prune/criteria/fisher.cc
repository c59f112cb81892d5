#include "prune/criteria.h"
#include "prune/slopes.h"

namespace mlopt::prune {

Matrix fisher(const Evidence& evidence) { return evidence.slopes->squares; }

}  // namespace mlopt::prune
