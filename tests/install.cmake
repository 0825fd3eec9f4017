# cmake -DBUILD=... -DCONSUMER=... -DWORK=... -P install.cmake: install, then build and run a
# project that knows nothing but find_package(aurora).
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/consumer -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_BUILD_TYPE=Debug)
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
if(NOT output MATCHES "maze: 42 genes, a still robot scores 0")
  message(FATAL_ERROR "unexpected output: ${output}")
endif()
run(${WORK}/prefix/bin/aurora --version)
if(NOT EXISTS ${WORK}/prefix/share/aurora/python/aurora/__main__.py)
  message(FATAL_ERROR "the Python package is not installed")
endif()
