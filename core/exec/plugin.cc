#include "core/exec/plugin.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <filesystem>

#include "core/base/error.h"

namespace mlopt {
namespace {

std::filesystem::path program_folder() {
  std::error_code failure;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) unsupported_error("cannot tell where the program is, and so where its plugins are", "/proc/self/exe");
  return program.parent_path();
}

/// dlopen's reason, without the path that the message names anyway.
std::string reason(const std::string& path) {
  const char* text = ::dlerror();
  std::string message = text ? text : "unknown reason";
  if (message.rfind(path + ": ", 0) == 0) message.erase(0, path.size() + 2);
  return message;
}

}  // namespace

const Plugin& load_plugin(const std::string& name, std::string_view build_id) {
  const std::string path = (program_folder() / fmt::format("libmlopt_{}.so", name)).string();
  if (!std::filesystem::exists(path)) {
    unsupported_error(
        fmt::format("this build has no {} plugin", name), path,
        fmt::format("build it where its toolkit is installed, and put libmlopt_{}.so beside the program", name));
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // stays open: what it made may outlive any scope
  if (!library) {
    unsupported_error(fmt::format("cannot load the {} plugin ({})", name, reason(path)), path,
                      "install the library that the message names, or do without");
  }
  const auto entry = reinterpret_cast<PluginEntry>(::dlsym(library, "mlopt_plugin"));
  if (!entry) unsupported_error("not a plugin of mlopt: it exports no mlopt_plugin", path);
  const Plugin& plugin = *entry();
  if (plugin.build_id != build_id) {
    unsupported_error(
        fmt::format("the {} plugin is of another build ({}, the program is {})", name, plugin.build_id, build_id), path,
        "build the program and its plugins together");
  }
  return plugin;
}

}  // namespace mlopt
