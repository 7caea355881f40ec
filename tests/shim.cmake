# SPDX-License-Identifier: MIT
# The MPI shim: programs with planted answers, and what it saw of them.
if(TARGET chokepoint-mpi)
  find_package(MPI COMPONENTS C QUIET)
  add_executable(calls_dump ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_dump.c)
  target_link_libraries(calls_dump PRIVATE chokepoint_calls)

  chokepoint_e2e_test(run_preloads_shim mpi)
  chokepoint_e2e_test(mpi_calls_are_recorded mpi)
  chokepoint_e2e_test(mpi_calls_survive_the_agent mpi faults)

  # shim_program(TARGET): without sanitizers, whose runtime wants to come before what is preloaded.
  function(shim_program target)
    get_target_property(options ${target} COMPILE_OPTIONS)
    list(FILTER options EXCLUDE REGEX "^-fsanitize|^-fno-sanitize")
    set_target_properties(${target} PROPERTIES COMPILE_OPTIONS "${options}" LINK_OPTIONS "")
    target_compile_options(${target} PRIVATE -O1)
    target_link_libraries(${target} PRIVATE MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS})
  endfunction()
  foreach(program planted waits comms threads simple paced)
    add_executable(calls_${program} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_${program}.c)
    shim_program(calls_${program})
  endforeach()
  add_executable(planted_causes ${CMAKE_CURRENT_SOURCE_DIR}/mpi/planted_causes.c)
  shim_program(planted_causes)
  add_executable(slow-wire ${CMAKE_CURRENT_SOURCE_DIR}/tools/slow_wire.c)
  add_executable(calls_own_layer ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_simple.c)
  target_compile_definitions(calls_own_layer PRIVATE OWN_LAYER)
  shim_program(calls_own_layer)
  foreach(tool pmpi next)
    add_library(other_tool_${tool} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mpi/other_tool.c)
    set_target_properties(other_tool_${tool} PROPERTIES PREFIX ""
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
    shim_program(other_tool_${tool})
  endforeach()
  target_compile_definitions(other_tool_next PRIVATE NEXT)

  add_library(calls_plugin MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_simple.c)
  set_target_properties(calls_plugin PROPERTIES PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  shim_program(calls_plugin)
  add_executable(plugin_host ${CMAKE_CURRENT_SOURCE_DIR}/mpi/plugin_host.c)
  shim_program(plugin_host)
  set_target_properties(plugin_host PROPERTIES LINK_LIBRARIES "${CMAKE_DL_LIBS}")

  chokepoint_mpi_test(shim_counts_exactly)
  chokepoint_mpi_test(shim_times_waits)
  chokepoint_mpi_test(shim_communicators_agree)
  chokepoint_mpi_test(shim_threads)
  chokepoint_mpi_test(shim_fortran)
  chokepoint_mpi_test(shim_beside_other_tools)
  chokepoint_mpi_test(shim_rank_killed)
  chokepoint_mpi_test(shim_real_programs)
  set_tests_properties(shim_real_programs PROPERTIES LABELS "mpi;slow")
endif()

# The reader needs no MPI.
chokepoint_unit_test(test_agent_calls chokepoint_calls Threads::Threads)
set_tests_properties(test_agent_calls PROPERTIES LABELS "unit;threads")
