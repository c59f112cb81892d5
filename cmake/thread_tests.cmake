# The tests that start threads, and the libraries that they need, under the thread sanitizer. It does not see how oneTBB
# orders what it shares out, so each of their threads shares its work with nobody: there is one processor.

find_package(Catch2 CONFIG REQUIRED)
find_program(MLOPT_TASKSET taskset REQUIRED)

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/backends/*_test.cc
     ${PROJECT_SOURCE_DIR}/tests/core/exec/*_test.cc)
foreach(source ${test_sources})
  file(STRINGS ${source} starts_threads REGEX "^#include <thread>" LIMIT_COUNT 1)
  if(starts_threads)
    list(APPEND thread_sources ${source})
  endif()
endforeach()
foreach(name cases convolution cpu gpu main net op rewrite targets)
  list(APPEND thread_sources ${PROJECT_SOURCE_DIR}/tests/support/${name}.cc)
endforeach()
# It warns of fences, which it does not see; these order what one thread alone reads.
set_source_files_properties(backends/cpu/product_kernel.cc PROPERTIES COMPILE_OPTIONS -Wno-tsan)
add_subdirectory(backends/gpu)
mlopt_executable(mlopt_thread_tests ${thread_sources})
target_link_libraries(mlopt_thread_tests PRIVATE mlopt_gpu_host Catch2::Catch2 Eigen3::Eigen DNNL::dnnl mlopt_deps)
enable_testing()
set(suppressions ${PROJECT_BINARY_DIR}/tsan.supp)
file(WRITE ${suppressions} "race:libtbb.so\n") # of its own, between its threads
add_test(NAME threads COMMAND ${MLOPT_TASKSET} -c 0 $<TARGET_FILE:mlopt_thread_tests>)
set_tests_properties(threads PROPERTIES ENVIRONMENT TSAN_OPTIONS=suppressions=${suppressions} TIMEOUT 600)
