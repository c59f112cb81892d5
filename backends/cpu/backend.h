#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/exec/backend.h"
#include "core/exec/kernel.h"
#include "core/ir/infer.h"

namespace mlopt {

/// The fast backend, on oneDNN: constant weights are packed once into the layout that the primitive prefers, primitives
/// are made once for each signature of a step's inputs. `fallback` are the kernels, in search order, for what it lacks;
/// the nodes they run are reported by Executable::fallback_nodes(). `types` gives the types of standard operators that
/// infer() lacks. Error{kUnsupported} on a processor without SSE4.1.
std::unique_ptr<Backend> cpu_backend(std::vector<Kernel> fallback, TypeRule types = nullptr);

/// Of oneDNN, as loaded: "3.2.0".
std::string cpu_library_version();

}  // namespace mlopt
