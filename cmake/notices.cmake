# THIRD_PARTY_NOTICES: the licenses of what the packages contain, as the libraries themselves state them.
# Sets MLOPT_NOTICES, the file.

set(MLOPT_NOTICES ${PROJECT_BINARY_DIR}/THIRD_PARTY_NOTICES)
set(notices "mlopt contains, or has beside it, the libraries below. Their licenses follow in the same order.\n")
set(texts "")

# mlopt_notice(TITLE file...): the first of the files that exists is the library's license.
function(mlopt_notice title)
  foreach(file ${ARGN})
    if(EXISTS ${file})
      file(READ ${file} text)
      string(APPEND notices "  - ${title}\n")
      string(REPEAT "=" 100 line)
      string(APPEND texts "\n${line}\n${title}\n${line}\n\n${text}")
      set(notices "${notices}" PARENT_SCOPE)
      set(texts "${texts}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(WARNING "The license of ${title} was not found: packages made here would lack it")
endfunction()

list(GET MLOPT_PREFIXES 0 onnx_prefix)
list(GET MLOPT_PREFIXES -1 onednn_prefix)
set(system /usr/share/doc)
mlopt_notice("ONNX" ${onnx_prefix}/LICENSE)
mlopt_notice("Protocol Buffers" ${system}/libprotobuf-dev/copyright)
if(MLOPT_CPU)
  mlopt_notice("oneDNN" ${onednn_prefix}/share/doc/onednn/LICENSE ${system}/libdnnl-dev/copyright)
  mlopt_notice("oneDNN's own third parties" ${onednn_prefix}/share/doc/onednn/THIRD-PARTY-PROGRAMS
               ${system}/libdnnl-dev/copyright)
endif()
mlopt_notice("Eigen" ${system}/libeigen3-dev/copyright)
mlopt_notice("Highway" ${system}/libhwy-dev/copyright)
mlopt_notice("{fmt}" ${system}/libfmt-dev/copyright)
mlopt_notice("CLI11" ${system}/libcli11-dev/copyright)
mlopt_notice("JSON for Modern C++" ${system}/nlohmann-json3-dev/copyright)
mlopt_notice("zlib" ${system}/zlib1g-dev/copyright)
mlopt_notice("xxHash" ${system}/libxxhash-dev/copyright)
mlopt_notice("libjpeg-turbo" ${system}/libturbojpeg0-dev/copyright)
mlopt_notice("libspng" ${system}/libspng-dev/copyright)
mlopt_notice("oneTBB" ${system}/libtbb-dev/copyright)
# The texts that the notices above name without giving them.
foreach(license MPL-2.0 GPL-3 Apache-2.0)
  mlopt_notice("The license ${license}" /usr/share/common-licenses/${license})
endforeach()

file(WRITE ${MLOPT_NOTICES} "${notices}${texts}")
