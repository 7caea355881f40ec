# SPDX-License-Identifier: MIT
# What must hold when things go wrong, in whole runs.
chokepoint_e2e_test(clock_step_harms_no_rate mpi faults)
chokepoint_e2e_test(clock_offset_of_a_host_is_measured mpi faults)
chokepoint_e2e_test(run_collector_stopped faults)
chokepoint_e2e_test(run_disk_full_under_spool faults)
chokepoint_e2e_test(run_disk_full_under_database faults)
