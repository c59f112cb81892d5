# Finds the libraries. scripts/setup.sh says where those are that it built, and CMake looks there first.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS scripts/versions.sh scripts/setup.sh)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/setup.sh --prefixes
                OUTPUT_VARIABLE MLOPT_PREFIXES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
list(PREPEND CMAKE_PREFIX_PATH ${MLOPT_PREFIXES})

find_package(TBB REQUIRED CONFIG)
find_package(Eigen3 3.4 REQUIRED CONFIG)

# Debian's Protocol Buffers have no CMake package, which ONNXConfig.cmake asks for: so the targets alone.
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED MODULE)
unset(MLOPT_ONNX_TARGETS CACHE) # may be from before versions.sh changed
find_file(MLOPT_ONNX_TARGETS ONNXTargets.cmake PATHS ${MLOPT_PREFIXES} PATH_SUFFIXES lib/cmake/ONNX NO_DEFAULT_PATH)
if(NOT MLOPT_ONNX_TARGETS)
  message(FATAL_ERROR "ONNX is not in ${MLOPT_PREFIXES}: run scripts/setup.sh")
endif()
include(${MLOPT_ONNX_TARGETS})

if(MLOPT_CPU)
  unset(dnnl_DIR CACHE)
  find_package(dnnl 3.1 CONFIG)
  if(NOT dnnl_FOUND OR NOT DNNL_CPU_THREADING_RUNTIME STREQUAL "TBB")
    message(FATAL_ERROR "oneDNN 3.1 or later, built for oneTBB, is missing: run scripts/setup.sh, or configure with -DMLOPT_CPU=OFF")
  endif()
endif()

# The small libraries: static where the system has such an archive, so that a package carries fewer files.
add_library(mlopt_deps INTERFACE)
foreach(name fmt hwy spng turbojpeg xxhash)
  find_library(MLOPT_LIB_${name} NAMES lib${name}.a ${name} REQUIRED)
  target_link_libraries(mlopt_deps INTERFACE ${MLOPT_LIB_${name}})
endforeach()
target_link_libraries(mlopt_deps INTERFACE z ${CMAKE_DL_LIBS})
