// A plugin that does nothing: it proves that plugins are found, checked and opened.

#include "core/exec/plugin.h"

#include "mlopt_build.h"

namespace {

class IdleBackend : public mlopt::Backend {
 public:
  explicit IdleBackend(int index) : name_("test:" + std::to_string(index)) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<mlopt::Executable> compile(const mlopt::Model&, const mlopt::CompileOptions&) override {
    return nullptr;
  }

 private:
  std::string name_;
};

std::unique_ptr<mlopt::Backend> open_backend(int index) { return std::make_unique<IdleBackend>(index); }

constexpr mlopt::Plugin kPlugin{MLOPT_BUILD_ID, open_backend};

}  // namespace

extern "C" MLOPT_API const mlopt::Plugin* mlopt_plugin() { return &kPlugin; }
