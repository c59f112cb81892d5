# The kinds of targets: a folder's library, an executable that holds all of them, a plugin.

set_property(GLOBAL PROPERTY MLOPT_LIBRARIES "")

# mlopt_precompile(TARGET header...): the usual headers and these are read once for the target, which compiles in about
# two thirds of the time. MLOPT_PRECOMPILE=OFF shows whether each file includes what it uses.
function(mlopt_precompile target)
  if(NOT MLOPT_PRECOMPILE)
    return()
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The first is for ccache. The others GCC 12 finds in its own std::string, once that is precompiled.
    target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow
                           -Wno-stringop-overread)
  else()
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/)
  target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <filesystem> <functional> <map> <memory> <optional>
                            <set> <span> <string> <unordered_map> <vector> <fmt/core.h> ${ARGN})
  if(CMAKE_CXX_COMPILER_LAUNCHER)
    set_property(TARGET ${target} PROPERTY CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
                                           CCACHE_SLOPPINESS=pch_defines,time_macros ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endfunction()

# mlopt_library(FOLDER [EXCLUDE name...] [LINK target...]): all of FOLDER's sources but FOLDER/name.
# A folder without sources gives nothing.
function(mlopt_library folder)
  cmake_parse_arguments(arg "" "" "EXCLUDE;LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  foreach(name ${arg_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${folder}/${name}(/|$)")
  endforeach()
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" name mlopt_${folder})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  target_include_directories(${name} PRIVATE ${MLOPT_GENERATED})
  add_dependencies(${name} mlopt_build_id)
  mlopt_precompile(${name} core/base/error.h core/ir/model.h core/tensor/cast.h)
  set_property(GLOBAL APPEND PROPERTY MLOPT_LIBRARIES ${name})
endfunction()

# Links all of our libraries, the upper layers first. Core is linked whole, for the plugins that resolve its symbols
# (those marked MLOPT_API) in the executable that opens them. The symbols of the archives that we link stay inside: a
# library that a plugin opens may bring its own.
function(mlopt_link_all target)
  get_property(libraries GLOBAL PROPERTY MLOPT_LIBRARIES)
  list(REVERSE libraries)
  foreach(library ${libraries})
    if(library MATCHES "^mlopt_core")
      target_link_libraries(${target} PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${library}>")
    else()
      target_link_libraries(${target} PRIVATE ${library})
    endif()
  endforeach()
  foreach(archive libonnx.a libonnx_proto.a libprotobuf.a) # one by one: mold 1.10 hangs on a list with colons
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,${archive})
  endforeach()
endfunction()

# mlopt_executable(NAME source...): a program with all of ours in it, and oneDNN beside it.
function(mlopt_executable name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${MLOPT_GENERATED})
  add_dependencies(${name} mlopt_build_id)
  set_target_properties(${name} PROPERTIES ENABLE_EXPORTS ON RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
                                           BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH $ORIGIN)
  # The older kind of path, which also serves the libraries that our libraries need.
  target_link_options(${name} PRIVATE -Wl,--disable-new-dtags)
  mlopt_link_all(${name})
  if(MLOPT_CPU)
    add_dependencies(${name} mlopt_onednn)
  endif()
endfunction()

# mlopt_plugin(NAME source...): libNAME.so beside the programs. It links nothing of ours.
function(mlopt_plugin name)
  add_library(${name} MODULE ${ARGN})
  target_include_directories(${name} PRIVATE ${MLOPT_GENERATED})
  add_dependencies(${name} mlopt_build_id)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} POSITION_INDEPENDENT_CODE ON)
endfunction()

# libdnnl.so.3 beside the programs with what lies beside it for it alone, so that the build folder and the packages work
# in the same way.
if(MLOPT_CPU)
  file(GLOB onednn_needs ${dnnl_DIR}/../../libimf.so ${dnnl_DIR}/../../libintlc.so.5)
  add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/libdnnl.so.3
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:DNNL::dnnl> ${onednn_needs} ${PROJECT_BINARY_DIR}
    COMMAND ${CMAKE_COMMAND} -E rename ${PROJECT_BINARY_DIR}/$<TARGET_FILE_NAME:DNNL::dnnl> ${PROJECT_BINARY_DIR}/libdnnl.so.3
    COMMENT "Copying oneDNN beside the program")
  add_custom_target(mlopt_onednn DEPENDS ${PROJECT_BINARY_DIR}/libdnnl.so.3)
endif()
