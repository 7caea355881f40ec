# SPDX-License-Identifier: MIT
# `chokepoint run`: finding hosts, starting agents, being transparent to the command.
chokepoint_unit_test(test_hosts chokepoint_launch)
chokepoint_unit_test(test_command_words chokepoint_launch)
chokepoint_unit_test(test_launch chokepoint_launch)
chokepoint_unit_test(test_backoff chokepoint_launch)
chokepoint_e2e_test(run_passes_streams_and_status)
chokepoint_e2e_test(run_bad_input)
chokepoint_e2e_test(run_interrupted)
chokepoint_e2e_test(run_repeats)
chokepoint_e2e_test(run_interrupted_mpi mpi)
chokepoint_e2e_test(run_interrupted_at_start mpi)
chokepoint_e2e_test(run_host_missing mpi)
chokepoint_e2e_test(run_token_hidden mpi)
chokepoint_e2e_test(run_collector_killed faults)
chokepoint_e2e_test(run_database_moved faults)
chokepoint_e2e_test(run_agent_killed mpi faults)
chokepoint_e2e_test(answers_say_what_they_lack mpi)

# What the documents say is what the programs do.
chokepoint_e2e_test(manual_is_true)
chokepoint_e2e_test(built_without_cmocka)
chokepoint_e2e_test(metrics_documented)
