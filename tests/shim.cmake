# SPDX-License-Identifier: MIT
# The MPI shim: programs with planted answers, against its records.
find_package(MPI COMPONENTS C QUIET)
if(TARGET chokepoint-mpi AND MPI_C_FOUND)
  add_executable(calls_dump ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_dump.c)
  target_link_libraries(calls_dump PRIVATE chokepoint_calls)

  chokepoint_e2e_test(run_preloads_shim mpi)
  chokepoint_e2e_test(run_preloads_ranks_only mpi)
  chokepoint_e2e_test(run_under_mpich mpi)
  chokepoint_e2e_test(roles_are_their_own mpi)
  chokepoint_e2e_test(mpi_calls_are_recorded mpi)
  chokepoint_e2e_test(mpi_calls_survive_the_agent mpi faults)
  chokepoint_e2e_test(kills_lose_nothing_unseen mpi faults)
  chokepoint_e2e_test(planted_causes_are_told_apart mpi)
  chokepoint_e2e_test(printed_commands_work mpi)
  chokepoint_e2e_test(slow_files_are_the_disks mpi)

  # shim_program(TARGET): without sanitizers, since their runtime must come before preloaded libraries.
  function(shim_program target)
    get_target_property(options ${target} COMPILE_OPTIONS)
    list(FILTER options EXCLUDE REGEX "^-fsanitize|^-fno-sanitize")
    set_target_properties(${target} PROPERTIES COMPILE_OPTIONS "${options}" LINK_OPTIONS "")
    target_compile_options(${target} PRIVATE -O1)
    target_link_libraries(${target} PRIVATE MPI::MPI_C Threads::Threads ${CMAKE_DL_LIBS})
  endfunction()
  foreach(program planted waits comms threads simple small paced until alone)
    add_executable(calls_${program} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_${program}.c)
    shim_program(calls_${program})
  endforeach()
  add_executable(planted_causes ${CMAKE_CURRENT_SOURCE_DIR}/mpi/planted_causes.c)
  shim_program(planted_causes)
  add_executable(planted_waits ${CMAKE_CURRENT_SOURCE_DIR}/mpi/planted_waits.c)
  shim_program(planted_waits)
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

  # The standard binary interface, over OpenMPI.
  if(MPI_mpi_LIBRARY MATCHES openmpi)
    add_library(mpi_abi SHARED ${CMAKE_CURRENT_SOURCE_DIR}/mpi/standard/bridge.c)
    set_target_properties(mpi_abi PROPERTIES SOVERSION 1 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/standard)
    shim_program(mpi_abi)
    set_target_properties(mpi_abi PROPERTIES LINK_OPTIONS "-Wl,-Bsymbolic")
    add_executable(calls_standard ${CMAKE_CURRENT_SOURCE_DIR}/mpi/calls_standard.c)
    shim_program(calls_standard)
    set_target_properties(calls_standard PROPERTIES LINK_LIBRARIES mpi_abi)
  endif()

  # The same programs for MPICH, beside those for the default MPI.
  find_program(MPICC_MPICH mpicc.mpich)
  set(mpich_bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpich)
  set(mpich_programs)
  # mpich_program(OUTPUT SOURCE OPTIONS...)
  function(mpich_program output source)
    add_custom_command(OUTPUT ${mpich_bin}/${output}
      COMMAND ${MPICC_MPICH} -O1 -g -std=gnu17 -Wno-stringop-overflow -D_GNU_SOURCE -I${PROJECT_SOURCE_DIR} -pthread
              ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${mpich_bin}/${output} ${ARGN}
      DEPENDS ${source} mpi/expect.h ${PROJECT_SOURCE_DIR}/agent/mark/chokepoint.h VERBATIM)
    set(mpich_programs ${mpich_programs} ${mpich_bin}/${output} PARENT_SCOPE)
  endfunction()
  if(MPICC_MPICH)
    file(MAKE_DIRECTORY ${mpich_bin})
    foreach(program calls_planted calls_waits calls_comms calls_threads calls_simple calls_small calls_until planted_waits testbed_traffic)
      mpich_program(${program} mpi/${program}.c)
    endforeach()
    mpich_program(calls_own_layer mpi/calls_simple.c -DOWN_LAYER)
    mpich_program(other_tool_pmpi.so mpi/other_tool.c -shared -fPIC)
    mpich_program(other_tool_next.so mpi/other_tool.c -shared -fPIC -DNEXT)
    mpich_program(calls_plugin.so mpi/calls_simple.c -shared -fPIC)
    add_custom_command(OUTPUT ${mpich_bin}/plugin_host COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:plugin_host>
      ${mpich_bin}/plugin_host DEPENDS plugin_host VERBATIM)
    add_custom_target(mpich_programs ALL DEPENDS ${mpich_programs} ${mpich_bin}/plugin_host)
  endif()

  # of_mpich(NAME): the test under MPICH, which skips where there is none.
  function(of_mpich name)
    add_test(NAME ${name}_mpich COMMAND ${BASH_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/${name}.sh)
    set_tests_properties(${name}_mpich PROPERTIES LABELS mpi TIMEOUT 600 SKIP_RETURN_CODE 77 RESOURCE_LOCK ranks PROCESSORS 2
      ENVIRONMENT "CHOKEPOINT_MPI=mpich;CHOKEPOINT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};CHOKEPOINT_SOURCE=${PROJECT_SOURCE_DIR}")
  endfunction()
  chokepoint_mpi_test(shim_interfaces_are_those_installed)
  # Programs of the e2e tests, and programs whose waits a replay follows.
  add_test(NAME mpi_calls_are_recorded_mpich COMMAND ${BASH_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/e2e/mpi_calls_are_recorded.sh)
  add_test(NAME waits_are_followed_mpich COMMAND ${BASH_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/mpi/waits_are_followed.sh)
  set_tests_properties(mpi_calls_are_recorded_mpich waits_are_followed_mpich PROPERTIES LABELS "e2e;mpi" TIMEOUT 600
    SKIP_RETURN_CODE 77 RESOURCE_LOCK ranks PROCESSORS 2
    ENVIRONMENT "CHOKEPOINT_MPI=mpich;CHOKEPOINT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};CHOKEPOINT_SOURCE=${PROJECT_SOURCE_DIR}")
  foreach(name counts_exactly times_waits communicators_agree small_calls threads fortran beside_other_tools rank_killed says_why)
    of_mpich(shim_${name})
  endforeach()
  chokepoint_mpi_test(shim_counts_exactly)
  chokepoint_mpi_test(shim_knows_the_standard_interface)
  chokepoint_mpi_test(shim_times_waits)
  chokepoint_mpi_test(shim_communicators_agree)
  chokepoint_mpi_test(shim_small_calls)
  chokepoint_mpi_test(shim_threads)
  chokepoint_mpi_test(shim_fortran)
  chokepoint_mpi_test(shim_beside_other_tools)
  chokepoint_mpi_test(shim_rank_killed)
  chokepoint_mpi_test(shim_says_why)
  chokepoint_mpi_test(shim_real_programs)
  chokepoint_mpi_test(short_ranks_are_seen)
  chokepoint_mpi_test(waits_are_followed)
  set_tests_properties(waits_are_followed PROPERTIES TIMEOUT 600)
  set_tests_properties(shim_real_programs PROPERTIES LABELS "mpi;slow")
endif()

chokepoint_unit_test(test_shim_tick)
target_sources(test_shim_tick PRIVATE ${PROJECT_SOURCE_DIR}/agent/shim/tick.c)

# The reader needs no MPI.
chokepoint_thread_test(test_agent_calls chokepoint_calls Threads::Threads)
