# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_collector_clock chokepoint_collector)
chokepoint_unit_test(test_collector_ingest chokepoint_collector sqlite3)
chokepoint_unit_test(test_collector_store chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_server chokepoint_collector sqlite3 Threads::Threads)
set_tests_properties(test_collector_server PROPERTIES LABELS "unit;threads")

add_executable(new-run tools/new_run.c)
target_link_libraries(new-run PRIVATE chokepoint_store)
chokepoint_e2e_test(collector_restart)
chokepoint_e2e_test(collector_disk_full)
chokepoint_unit_test(test_collector_store_read chokepoint_store sqlite3)
chokepoint_unit_test(test_collector_store_kill chokepoint_store sqlite3)

# The other end of the wire.
chokepoint_unit_test(test_agent_push chokepoint_push Threads::Threads)
set_tests_properties(test_agent_push PROPERTIES LABELS "unit;threads")
chokepoint_unit_test(test_collector_store_queries chokepoint_store chokepoint_agent sqlite3)
