# The faster tools, where the machine has them: ccache in front of the compiler, mold as the linker.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

find_program(MLOPT_CCACHE ccache)
if(MLOPT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths relative to the checkout: several checkouts share what they compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_CURRENT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${MLOPT_CCACHE})
endif()

find_program(MLOPT_MOLD mold)
if(MLOPT_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
