# How every file of ours is compiled. No -march: the program runs on any x86-64, and kernels choose at run time.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

include_directories(${PROJECT_SOURCE_DIR})
add_compile_options(-Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual -Wsuggest-override)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 finds these two in its own std::optional, std::variant and std::string.
  add_compile_options(-Wduplicated-cond -Wlogical-op -Wno-maybe-uninitialized -Wno-restrict)
endif()

# Another compiler's new warnings should not keep anybody from building.
set(tested_compiler OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
  set(tested_compiler ON)
endif()
option(MLOPT_WERROR "Warnings are errors" ${tested_compiler})
if(MLOPT_WERROR)
  add_compile_options(-Werror)
endif()

if(MLOPT_SANITIZE)
  # A finding ends the program, so that no test passes over it.
  add_compile_options(-fsanitize=${MLOPT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MLOPT_SANITIZE})
  if(MLOPT_SANITIZE MATCHES "address")
    # A fifth of the time to build goes into these three. Most of what the first two find the address sanitizer finds, and
    # there are few downcasts.
    add_compile_options(-fno-sanitize=null,object-size,vptr)
  endif()
  if(MLOPT_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-stringop-overflow) # found in std::string again
  endif()
endif()

if(MLOPT_TIDY)
  find_program(MLOPT_CLANG_TIDY clang-tidy REQUIRED)
  # The command lines are GCC's, whose warnings clang does not know.
  set(CMAKE_CXX_CLANG_TIDY ${MLOPT_CLANG_TIDY} --quiet --extra-arg=-Wno-unknown-warning-option)
endif()
