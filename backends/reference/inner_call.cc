#include "backends/reference/inner_call.h"

#include "backends/reference/kernels.h"

namespace mlopt::reference {

PlainKernel find_kernel(std::string_view domain, std::string_view op) {
  for (const Kernel& kernel : all_kernels())
    if (kernel.domain == domain && kernel.op == op && kernel.run) return kernel.run;
  return nullptr;
}

std::vector<Datum> run_inner(const Call& call, PlainKernel kernel, std::span<const Datum> inputs, int outputs) {
  std::vector<const Datum*> given;
  for (const Datum& datum : inputs) given.push_back(&datum);
  std::vector<Datum> results(static_cast<size_t>(outputs));
  const BodyRunner no_bodies;
  Call inner(call.view, given, results, no_bodies, call.seed);
  kernel(inner);
  return results;
}

}  // namespace mlopt::reference
