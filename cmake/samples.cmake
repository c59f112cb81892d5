# samples/<name>/: a README, run.sh and, if the sample's inputs are made by a program, its sources: main.cc of the program
# sample_<name>, and the others in a library that tests/samples/<name>/ tests. run.sh is started in an empty working folder with the built programs on PATH, and fails if the
# sample does not do what it says.

add_custom_target(samples)
file(GLOB sample_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/samples/*)
foreach(folder ${sample_folders})
  cmake_path(GET folder FILENAME name)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
  if(sources)
    list(REMOVE_ITEM sources ${folder}/main.cc)
    add_library(sample_${name}_parts STATIC ${sources})
    target_link_libraries(sample_${name}_parts PRIVATE mlopt_deps)
    list(APPEND sample_libraries sample_${name}_parts)
    mlopt_executable(sample_${name} ${folder}/main.cc)
    target_link_libraries(sample_${name} PRIVATE sample_${name}_parts mlopt_deps)
    add_dependencies(samples sample_${name})
  endif()
  if(EXISTS ${folder}/run.sh AND MLOPT_TESTS AND CMAKE_BUILD_TYPE STREQUAL "Release") # what others measure is no figure
    set(work ${PROJECT_BINARY_DIR}/samples/${name})
    file(MAKE_DIRECTORY ${work})
    add_test(NAME samples/${name}/run.sh COMMAND ${folder}/run.sh WORKING_DIRECTORY ${work})
    set_tests_properties(samples/${name}/run.sh PROPERTIES
      ENVIRONMENT_MODIFICATION PATH=path_list_prepend:${PROJECT_BINARY_DIR} SKIP_RETURN_CODE 77 TIMEOUT 600
      RUN_SERIAL ON)
  endif()
endforeach()
