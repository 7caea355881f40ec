# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_collector_clock chokepoint_collector)
chokepoint_unit_test(test_collector_ingest chokepoint_collector sqlite3)
chokepoint_unit_test(test_collector_store chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_server chokepoint_collector sqlite3 Threads::Threads)
set_tests_properties(test_collector_server PROPERTIES LABELS "unit;threads")

add_executable(new-run tools/new_run.c)
target_link_libraries(new-run PRIVATE chokepoint_store)
chokepoint_unit_test(test_echo chokepoint_collector chokepoint_push Threads::Threads)
set_tests_properties(test_echo PROPERTIES LABELS "unit;threads")

# A process's monotonic clock, bent.
add_library(clockdrift MODULE tools/clock_drift.c)
set_target_properties(clockdrift PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
target_compile_options(clockdrift PRIVATE -fno-sanitize=all)
target_link_options(clockdrift PRIVATE -fno-sanitize=all)
chokepoint_e2e_test(clock_drift_of_a_host_is_followed)
chokepoint_e2e_test(collector_refusals)
chokepoint_e2e_test(collector_restart)
chokepoint_e2e_test(slow_connections_keep_nobody_out)
chokepoint_e2e_test(collector_disk_full)
chokepoint_e2e_test(collector_database_moved)
chokepoint_e2e_test(killed_recording_is_read)
chokepoint_e2e_test(verify_names_damage)
chokepoint_unit_test(test_collector_store_read chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_events chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_ceiling chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_budget chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_repeat chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_kill chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_seal chokepoint_store sqlite3)

chokepoint_unit_test(test_collector_gate chokepoint_collector)
set_tests_properties(test_collector_gate PROPERTIES LABELS "unit;threads")
chokepoint_unit_test(test_transport chokepoint_push chokepoint_collector sqlite3 Threads::Threads)
set_tests_properties(test_transport PROPERTIES LABELS "unit;threads")

# The other end of the wire.
chokepoint_unit_test(test_agent_push chokepoint_push chokepoint_collector Threads::Threads)
set_tests_properties(test_agent_push PROPERTIES LABELS "unit;threads")
chokepoint_unit_test(test_collector_store_queries chokepoint_store chokepoint_agent sqlite3)
# Takes over the system calls by which SQLite writes.
chokepoint_unit_test(test_collector_power chokepoint_collector sqlite3 Threads::Threads ${CMAKE_DL_LIBS})
