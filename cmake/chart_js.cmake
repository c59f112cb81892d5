# Chart.js, as Debian packages it, becomes part of the program: reports are pages that need nothing from a network.

find_file(MLOPT_CHART_JS chart.min.js HINTS /usr/share/javascript/chart.js)
if(NOT MLOPT_CHART_JS)
  message(FATAL_ERROR "Chart.js is missing (chart.min.js of libjs-chart.js): run scripts/setup.sh")
endif()
add_custom_command(
  OUTPUT ${MLOPT_GENERATED}/chart_js.cc
  COMMAND ${CMAKE_COMMAND} -DINPUT=${MLOPT_CHART_JS} -DOUTPUT=${MLOPT_GENERATED}/chart_js.cc
          -P ${PROJECT_SOURCE_DIR}/cmake/write_chart_js.cmake
  DEPENDS ${MLOPT_CHART_JS} ${PROJECT_SOURCE_DIR}/cmake/write_chart_js.cmake
  COMMENT "Taking Chart.js into the program"
  VERBATIM)
target_sources(mlopt_core PRIVATE ${MLOPT_GENERATED}/chart_js.cc)
