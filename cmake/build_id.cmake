# mlopt_build.h, made at every build and rewritten only when it changes: MLOPT_VERSION and MLOPT_BUILD_ID.
#
# A plugin is loaded only by a program with the same build id. What must agree is the compiler, the flags and the
# declarations that both sides compiled, so the id is a digest of these. Include the header in few files.

set(MLOPT_GENERATED ${PROJECT_BINARY_DIR}/generated)
add_custom_target(
  mlopt_build_id
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${MLOPT_GENERATED}/mlopt_build.h
          -DVERSION=${PROJECT_VERSION}
          "-DTOOLS=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${MLOPT_SANITIZE}"
          -P ${PROJECT_SOURCE_DIR}/cmake/write_build_id.cmake
  BYPRODUCTS ${MLOPT_GENERATED}/mlopt_build.h
  COMMENT ""
  VERBATIM)
