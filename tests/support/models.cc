#include "tests/support/models.h"

#include "core/onnx/io.h"

namespace mlopt::test {

std::string write_text_model(const TempDir& folder, const std::string& name, const std::string& text) {
  const std::string path = folder / name;
  write_model(parse_text(text), path);
  return path;
}

}  // namespace mlopt::test
