# tests/fuzz/<name>_fuzz.cc: a libFuzzer target each, linked with ours, of which core is instrumented by clang.

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "MLOPT_FUZZ needs clang: configure with the preset asan")
endif()
foreach(library mlopt_core mlopt_core_onnx)
  target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
endforeach()

file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cc)
foreach(source ${fuzz_sources})
  cmake_path(GET source STEM LAST_ONLY name)
  mlopt_executable(${name} ${source})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
