#include "core/base/error.h"

#include <utility>

#include "core/base/printable.h"

namespace mlopt {

Error::Error(Code c, std::string what, std::string place, std::string remedy)
    : code(c), message(printable(what)), where(printable(place)), fix(printable(remedy)) {
  text_ = "error: " + message;
  if (!where.empty()) text_ += ": " + where;
  if (!fix.empty()) text_ += "\n  fix: " + fix;
}

void usage_error(std::string what, std::string where, std::string fix) {
  throw Error(Code::kUsage, std::move(what), std::move(where), std::move(fix));
}
void input_error(std::string what, std::string where, std::string fix) {
  throw Error(Code::kBadInput, std::move(what), std::move(where), std::move(fix));
}
void unsupported_error(std::string what, std::string where, std::string fix) {
  throw Error(Code::kUnsupported, std::move(what), std::move(where), std::move(fix));
}
void internal_error(std::string what, std::string where) {
  throw Error(Code::kInternal, "internal check failed: " + std::move(what), std::move(where), "please report this");
}

}  // namespace mlopt
