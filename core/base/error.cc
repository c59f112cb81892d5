#include "core/base/error.h"

#include "core/base/printable.h"

namespace mlopt {

Error::Error(Code c, const std::string& what, const std::string& place, const std::string& remedy)
    : code(c), message(printable(what)), where(printable(place)), fix(printable(remedy)) {
  text_ = "error: " + message;
  if (!where.empty()) text_ += ": " + where;
  if (!fix.empty()) text_ += "\n  fix: " + fix;
}

void usage_error(const std::string& what, const std::string& where, const std::string& fix) {
  throw Error(Code::kUsage, what, where, fix);
}
void input_error(const std::string& what, const std::string& where, const std::string& fix) {
  throw Error(Code::kBadInput, what, where, fix);
}
void unsupported_error(const std::string& what, const std::string& where, const std::string& fix) {
  throw Error(Code::kUnsupported, what, where, fix);
}
void internal_error(const std::string& what, const std::string& where) {
  throw Error(Code::kInternal, "internal check failed: " + what, where, "please report this");
}

}  // namespace mlopt
