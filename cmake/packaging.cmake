# cmake --install, and the packages: cpack -G "DEB;TGZ" in the build folder.
#
# The program lives in lib/mlopt with all that it opens there; bin/mlopt is a link, which $ORIGIN sees through. The
# shared libraries it was built with come along but for those of the C and C++ run time: every machine has these, and
# an older copy would be in the way of a plugin's own libraries.

set(program_dir lib/mlopt)
set(doc_dir share/doc/mlopt)

install(TARGETS mlopt
        RUNTIME_DEPENDENCIES PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|stdc\\+\\+|gcc_s|mvec)\\.so" "^ld-linux"
        RUNTIME DESTINATION ${program_dir} LIBRARY DESTINATION ${program_dir})
foreach(plugin mlopt_gpu mlopt_mpi)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${program_dir})
  endif()
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/link)
file(CREATE_LINK ../${program_dir}/mlopt ${PROJECT_BINARY_DIR}/link/mlopt SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/link/mlopt DESTINATION bin)

include(cmake/notices.cmake)
install(FILES LICENSE DESTINATION ${doc_dir} RENAME copyright)
install(FILES ${MLOPT_NOTICES} DESTINATION ${doc_dir})

set(CPACK_PACKAGE_NAME mlopt)
set(CPACK_PACKAGE_VENDOR mlopt)
set(CPACK_PACKAGE_CONTACT "The mlopt authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_FILE_NAME mlopt-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# What does not come along, in the versions that were linked. (dpkg-shlibdeps would also ask for what does.)
foreach(package libc6 libgcc-s1 libstdc++6)
  execute_process(COMMAND dpkg-query -W -f "\${Version}" ${package} OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "^([0-9]+:)?([0-9]+\\.[0-9]+)")
    list(APPEND depends "${package} (>= ${CMAKE_MATCH_2})")
  endif()
endforeach()
list(JOIN depends ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
include(CPack)
