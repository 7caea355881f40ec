# SPDX-License-Identifier: MIT
# `chokepoint run`: finding hosts, starting agents, being transparent to the command.
chokepoint_unit_test(test_hosts chokepoint_launch)
chokepoint_unit_test(test_command_words chokepoint_launch)
chokepoint_unit_test(test_secret_words chokepoint_launch)
chokepoint_unit_test(test_launch chokepoint_launch)
chokepoint_unit_test(test_slurm_job chokepoint_launch)
chokepoint_unit_test(test_backoff chokepoint_launch)
# A program whose dynamic loader is not ours.
add_executable(other-loader tools/other_loader.c)
set_target_properties(other-loader PROPERTIES
  COMPILE_OPTIONS "-ffreestanding;-fno-stack-protector;-fno-pie;-O1" LINK_OPTIONS "-nostdlib;-static;-no-pie")
add_executable(other-loader-program tools/other_loader_program.c)
set_target_properties(other-loader-program PROPERTIES COMPILE_OPTIONS ""
  LINK_OPTIONS "-Wl,--dynamic-linker=$<TARGET_FILE:other-loader>")
chokepoint_unit_test(test_program_file chokepoint_launch)
target_compile_definitions(test_program_file PRIVATE OTHER_LOADER="$<TARGET_FILE:other-loader>"
  OTHER_LOADER_PROGRAM="$<TARGET_FILE:other-loader-program>")
add_dependencies(test_program_file other-loader other-loader-program)
chokepoint_e2e_test(run_passes_streams_and_status)
chokepoint_e2e_test(attach_watches_what_runs)
chokepoint_e2e_test(attach_on_hosts)
chokepoint_e2e_test(waits_between_hosts_are_judged)
chokepoint_e2e_test(torchrun_has_ranks_and_helpers)
chokepoint_e2e_test(run_keeps_its_daemons)
chokepoint_e2e_test(run_bad_input)
chokepoint_e2e_test(run_interrupted)
chokepoint_e2e_test(run_repeats)
chokepoint_e2e_test(run_interrupted_mpi mpi)
chokepoint_e2e_test(run_under_slurm mpi)
chokepoint_e2e_test(slurm_recipes)
chokepoint_e2e_test(run_interrupted_at_start mpi)
chokepoint_e2e_test(run_host_missing mpi)
chokepoint_e2e_test(run_token_hidden mpi)
chokepoint_e2e_test(run_collector_killed faults)
chokepoint_e2e_test(run_database_moved faults)
chokepoint_e2e_test(run_agent_killed mpi faults)
chokepoint_e2e_test(answers_say_what_they_lack mpi)

# Documents against the programs that they describe.
chokepoint_e2e_test(manual_is_true)
chokepoint_e2e_test(built_without_cmocka)
chokepoint_e2e_test(metrics_documented)
