# One executable with all tests, and a CTest entry for each folder of tests/ (a process for each case would be slow).

find_package(Catch2 CONFIG QUIET)
if(NOT Catch2_FOUND)
  message(STATUS "The tests are left out: Catch2 is missing (scripts/setup.sh test installs it)")
  return()
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
file(GLOB support_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cc)
if(NOT MLOPT_CPU)
  foreach(source ${test_sources} ${support_sources})
    file(STRINGS ${source} needs_cpu REGEX "^#include \"(backends/cpu/|tests/support/(convolution|cpu|net|sparse_training)\\.h)" LIMIT_COUNT 1)
    if(needs_cpu)
      list(REMOVE_ITEM test_sources ${source})
      list(REMOVE_ITEM support_sources ${source})
    endif()
  endforeach()
endif()
mlopt_executable(mlopt_tests ${test_sources} ${support_sources})
target_link_libraries(mlopt_tests PRIVATE mlopt_gpu_host ${sample_libraries} Catch2::Catch2 Eigen3::Eigen mlopt_deps)
if(MLOPT_CPU)
  target_link_libraries(mlopt_tests PRIVATE DNNL::dnnl) # for its headers
endif()
# The tests' own code is compiled quickly; what they test as it is shipped, or with optimization and the sanitizers.
if(MLOPT_SANITIZE)
  target_compile_options(mlopt_tests PRIVATE -O0 -fno-sanitize=undefined)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(mlopt_tests PRIVATE -Og)
endif()
mlopt_precompile(mlopt_tests core/base/error.h core/ir/model.h core/tensor/cast.h tests/support/catch.h)
set_source_files_properties(${support_sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON) # some have Catch's main()
# For one file alone: it would keep checkouts in other folders from sharing what ccache holds.
set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/support/paths.cc
                            PROPERTIES COMPILE_DEFINITIONS MLOPT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_dependencies(mlopt_tests mlopt) # some tests run the program

# tests/core/ir/graph_test.cc is counted to "core/ir", tests/cli/help_test.cc to "cli", as tests/support/main.cc does.
foreach(source ${test_sources})
  file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/tests ${source})
  string(REGEX MATCH "^[^/]+(/[^/]+)?(/|$)" folder ${path})
  string(REGEX REPLACE "/?[^/]*_test\\.cc$|/$" "" folder ${folder})
  list(APPEND folders ${folder})
endforeach()
list(REMOVE_DUPLICATES folders)
foreach(folder ${folders})
  add_test(NAME ${folder} COMMAND mlopt_tests --folder ${folder} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${folder} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1500)
endforeach()
if(MLOPT_CPU)
  foreach(isa SSE41 AVX2) # machines without AVX2, and without AVX-512
    add_test(NAME backends/cpu-${isa} COMMAND mlopt_tests --folder backends/cpu
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(backends/cpu-${isa} PROPERTIES ENVIRONMENT ONEDNN_MAX_CPU_ISA=${isa} TIMEOUT 1500)
  endforeach()
endif()
foreach(folder cli backends/reference backends/cpu) # the longest first
  if(folder IN_LIST folders)
    set_tests_properties(${folder} PROPERTIES COST 100)
  endif()
endforeach()
if(core/measure IN_LIST folders)
  set_tests_properties(core/measure PROPERTIES RUN_SERIAL ON)
endif()

if(EXISTS ${PROJECT_SOURCE_DIR}/tests/plugin)
  file(GLOB plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/plugin/*.cc)
  mlopt_plugin(mlopt_test ${plugin_sources})
  add_dependencies(mlopt_tests mlopt_test)
endif()

# What stands for a library in tests: whoever asks for one of its name gets it once it is loaded.
function(mlopt_fake name soname)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/tests/${name})
    return()
  endif()
  file(GLOB fakes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${name}/*.cc)
  mlopt_plugin(mlopt_fake_${name} ${fakes})
  target_link_options(mlopt_fake_${name} PRIVATE -Wl,-soname,${soname})
  # As the library that it stands for, which says nothing of its functions' types: who opens it declares its own.
  target_compile_options(mlopt_fake_${name} PRIVATE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  add_dependencies(mlopt_tests mlopt_fake_${name})
endfunction()
mlopt_fake(nccl libnccl.so.2)
mlopt_fake(cudnn libmlopt_fake_cudnn.so)
mlopt_fake(cusparselt libmlopt_fake_cusparselt.so)
