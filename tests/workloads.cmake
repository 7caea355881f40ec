# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_mark_ring chokepoint_mark Threads::Threads)
target_sources(test_mark_ring PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit/mark_second_unit.c)
set_tests_properties(test_mark_ring PROPERTIES LABELS "unit;threads")
chokepoint_unit_test(test_workload_data workload_data)
chokepoint_unit_test(test_sgd_math sgd_math)
chokepoint_unit_test(test_workload_plant workload_plant)

add_executable(bench_mark_cost ${CMAKE_CURRENT_SOURCE_DIR}/bench/mark_cost.c)
target_link_libraries(bench_mark_cost PRIVATE chokepoint_mark)

# chokepoint_mpi_test(NAME): tests/mpi/NAME.sh, ranks on this machine.
function(chokepoint_mpi_test name)
  add_test(NAME ${name} COMMAND ${BASH_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${name}.sh)
  set_tests_properties(${name} PROPERTIES LABELS mpi TIMEOUT 600 SKIP_RETURN_CODE 77 PROCESSORS 2
    ENVIRONMENT "CHOKEPOINT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};CHOKEPOINT_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()

if(TARGET chokepoint-sgd)
  add_executable(mark_dump ${CMAKE_CURRENT_SOURCE_DIR}/mpi/mark_dump.c)
  target_link_libraries(mark_dump PRIVATE chokepoint_mark)
  chokepoint_mpi_test(sgd_sync_equals_one_rank)
  chokepoint_mpi_test(sgd_modes)
  chokepoint_mpi_test(sgd_failures)
  chokepoint_mpi_test(sgd_softmax)
  chokepoint_mpi_test(sgd_rank_killed)
endif()

chokepoint_unit_test(test_calibrate_parts calibrate_parts)

chokepoint_unit_test(test_matmul_parts matmul_parts)
if(TARGET chokepoint-matmul)
  add_library(wrong_blas SHARED ${CMAKE_CURRENT_SOURCE_DIR}/mpi/wrong_blas.c)
  target_link_libraries(wrong_blas PRIVATE PkgConfig::OPENBLAS)
  set_target_properties(wrong_blas PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  chokepoint_mpi_test(matmul_agrees)
  chokepoint_mpi_test(matmul_failures)
endif()

if(TARGET image_data)
  chokepoint_unit_test(test_image_data image_data)
endif()
if(TARGET chokepoint-data)
  chokepoint_e2e_test(data_is_made_and_checked)
  chokepoint_e2e_test(data_is_fetched)
endif()

if(TARGET network)
  chokepoint_unit_test(test_network_net network)
endif()
if(TARGET chokepoint-lenet)
  chokepoint_mpi_test(lenet_modes)
  chokepoint_mpi_test(lenet_failures)
endif()
