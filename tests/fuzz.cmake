# SPDX-License-Identifier: MIT
# A target for each parser of outside bytes; built with -DCHOKEPOINT_FUZZ=ON (clang).
# chokepoint_fuzz_target(NAME LIBS...): tests/fuzz/NAME.c -> bin/NAME.
add_custom_target(fuzz-targets)
function(chokepoint_fuzz_target name)
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.c)
  target_link_libraries(${name} PRIVATE ${ARGN})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz-targets ${name})
endfunction()

if(CHOKEPOINT_FUZZ)
  chokepoint_fuzz_target(fuzz_wire chokepoint_common)
  chokepoint_fuzz_target(fuzz_keys chokepoint_tables)
  chokepoint_fuzz_target(fuzz_kernel_text chokepoint_agent)
  chokepoint_fuzz_target(fuzz_netlink chokepoint_agent)
  chokepoint_fuzz_target(fuzz_flow chokepoint_agent)
  chokepoint_fuzz_target(fuzz_fdinfo chokepoint_agent)
  chokepoint_fuzz_target(fuzz_wait chokepoint_agent)
  chokepoint_fuzz_target(fuzz_ingest chokepoint_collector)
  chokepoint_fuzz_target(fuzz_joined chokepoint_store)
  chokepoint_fuzz_target(fuzz_packed chokepoint_store)
  chokepoint_fuzz_target(fuzz_push_reply chokepoint_push)
  chokepoint_fuzz_target(fuzz_stream chokepoint_push)
  chokepoint_fuzz_target(fuzz_calls chokepoint_calls)
  chokepoint_fuzz_target(fuzz_database chokepoint_store sqlite3)
  chokepoint_fuzz_target(fuzz_mark_ring chokepoint_mark)
  chokepoint_fuzz_target(fuzz_echo chokepoint_common)
  chokepoint_fuzz_target(fuzz_datagrams chokepoint_collector chokepoint_push)
  chokepoint_fuzz_target(fuzz_hosts chokepoint_launch)
  chokepoint_fuzz_target(fuzz_command_words chokepoint_launch)
  chokepoint_fuzz_target(fuzz_sweep chokepoint_sweep)
  chokepoint_fuzz_target(fuzz_calibration chokepoint_calibration)
  if(TARGET image_data)
    chokepoint_fuzz_target(fuzz_idx image_data)
    chokepoint_fuzz_target(fuzz_cifar image_data)
  endif()
endif()

# The seeds in fuzz/corpus/fuzz_wire come from here.
add_executable(make-wire-seeds fuzz/make_wire_seeds.c)
target_link_libraries(make-wire-seeds PRIVATE chokepoint_common)

# Seeds that are structs, made by fuzz_short.sh before each run.
add_executable(make-seeds fuzz/make_seeds.c)
target_link_libraries(make-seeds PRIVATE chokepoint_calls chokepoint_push chokepoint_common)
add_dependencies(fuzz-targets make-seeds) # fuzz_short.sh calls it
