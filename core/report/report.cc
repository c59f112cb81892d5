#include "core/report/report.h"

#include <algorithm>

namespace mlopt {

bool Report::holds() const {
  return std::all_of(gates.begin(), gates.end(), [](const Gate& gate) { return gate.holds; });
}

std::string to_json(const Report& report) {
  Json data = report.data;
  Json gates = Json::array();
  for (const Gate& gate : report.gates) {
    gates.push_back(Json::object({{"name", gate.name},
                                  {"limit", gate.limit},
                                  {"value", gate.value},
                                  {"holds", gate.holds},
                                  {"words", gate.words}}));
  }
  data["gates"] = std::move(gates);
  return data.dump() + "\n";
}

}  // namespace mlopt
