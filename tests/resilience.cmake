# SPDX-License-Identifier: MIT
# What must hold when things go wrong, in whole runs.
chokepoint_e2e_test(clock_step_harms_no_rate mpi faults)
chokepoint_e2e_test(clock_offset_of_a_host_is_measured mpi faults)
chokepoint_e2e_test(run_collector_stopped faults)
chokepoint_e2e_test(run_disk_full_under_spool faults)
chokepoint_e2e_test(run_disk_full_under_database faults)
chokepoint_e2e_test(run_in_odd_places faults)
chokepoint_e2e_test(run_under_limits faults)
chokepoint_e2e_test(spool_is_ours_alone faults)
chokepoint_e2e_test(run_leaves_hosts_clean mpi faults)
chokepoint_e2e_test(two_runs_at_once faults)

add_executable(harmful-names tools/harmful_names.c)
target_link_libraries(harmful-names PRIVATE chokepoint_common)
chokepoint_e2e_test(names_that_mean_harm)
chokepoint_e2e_test(verbs_take_no_harm)
chokepoint_e2e_test(knotted_database_is_given_up)
