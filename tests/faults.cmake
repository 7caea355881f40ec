# SPDX-License-Identifier: MIT
# The fault matrix: its programs, and its short form. The whole matrix is a command: tests/faults/matrix --help.
add_executable(fault-trouble ${CMAKE_CURRENT_SOURCE_DIR}/faults/trouble.c)
target_link_libraries(fault-trouble PRIVATE Threads::Threads)
add_executable(fault-canary ${CMAKE_CURRENT_SOURCE_DIR}/faults/canary.c)
target_compile_options(fault-canary PRIVATE -O2)
target_link_libraries(fault-canary PRIVATE Threads::Threads)
add_executable(fault-ring ${CMAKE_CURRENT_SOURCE_DIR}/faults/tcp_ring.c)
target_compile_options(fault-ring PRIVATE -O2)
add_executable(fault-pipe ${CMAKE_CURRENT_SOURCE_DIR}/faults/pipe.c)
target_compile_options(fault-pipe PRIVATE -O2)
add_executable(fault-store ${CMAKE_CURRENT_SOURCE_DIR}/faults/store.c)
target_compile_options(fault-store PRIVATE -O2)
target_link_libraries(fault-store PRIVATE Threads::Threads)

find_program(PYTHON3_PROGRAM python3)
if(PYTHON3_PROGRAM)
  foreach(part truth scorer matrix laws whatif_laws ablate ledger services strangers drawn_services proof)
    add_test(NAME fault_${part}_is_what_made_up_runs_say
      COMMAND ${PYTHON3_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/faults/test_${part}.py)
    set_tests_properties(fault_${part}_is_what_made_up_runs_say PROPERTIES LABELS unit TIMEOUT 120)
  endforeach()
endif()
add_test(NAME fault_matrix_short COMMAND ${BASH_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/faults/short.sh)
set_tests_properties(fault_matrix_short PROPERTIES LABELS faults TIMEOUT 1200 SKIP_RETURN_CODE 77
  ENVIRONMENT "CHOKEPOINT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};CHOKEPOINT_SOURCE=${PROJECT_SOURCE_DIR}")
