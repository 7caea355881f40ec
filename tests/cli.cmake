# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_cli_testbed chokepoint_testbed)
chokepoint_e2e_test(testbed_lifecycle)
chokepoint_e2e_test(testbed_mpi mpi)
chokepoint_e2e_test(verbs)
chokepoint_unit_test(test_cli_nearest chokepoint_common)
chokepoint_unit_test(test_cli_list chokepoint_common)
target_sources(test_cli_list PRIVATE ../cli/list/list_text.c)
chokepoint_unit_test(test_cli_leftover chokepoint_testbed chokepoint_options chokepoint_reports)
target_sources(test_cli_leftover PRIVATE ../cli/import/leftover.c)
chokepoint_e2e_test(runs_are_removed_whole)
chokepoint_e2e_test(shells_complete)
chokepoint_unit_test(test_cli_examination chokepoint_examination)
chokepoint_unit_test(test_launch_library chokepoint_launch chokepoint_collector)
chokepoint_unit_test(test_launch_session chokepoint_launch chokepoint_collector)
chokepoint_e2e_test(run_prepares)
chokepoint_e2e_test(doctor_finds_planted_faults)
chokepoint_e2e_test(documents_hold_to_their_schemas mpi)
set_tests_properties(doctor_finds_planted_faults PROPERTIES RESOURCE_LOCK doctor)
set_tests_properties(documents_hold_to_their_schemas PROPERTIES RESOURCE_LOCK "ranks;doctor")

# `chokepoint calibrate`
chokepoint_unit_test(test_calibrate_lines chokepoint_calibration)
chokepoint_e2e_test(calibrate_refuses)
if(TARGET chokepoint-calibrate)
  chokepoint_e2e_test(calibrate_finds_planted_rates mpi)
endif()

# `chokepoint import`
chokepoint_e2e_test(import_what_was_left faults)

# `chokepoint sweep`
chokepoint_unit_test(test_sweep_parameters chokepoint_sweep)
chokepoint_unit_test(test_sweep_references chokepoint_sweep chokepoint_reports)
chokepoint_unit_test(test_sweep_show chokepoint_sweep chokepoint_reports chokepoint_collector)
target_sources(test_sweep_show PRIVATE ../cli/sweep/show.c ../cli/base/report.c ../cli/base/output.c ../cli/base/output_stream.c ../cli/base/progress.c ../cli/base/heap.c)
chokepoint_e2e_test(sweep_cells)
chokepoint_e2e_test(reference_tables_agree mpi)

# `chokepoint serve`
chokepoint_unit_test(test_serve_route chokepoint_serve)
chokepoint_unit_test(test_serve_guard chokepoint_serve)
chokepoint_unit_test(test_serve_peer chokepoint_serve)
chokepoint_unit_test(test_serve_pages chokepoint_serve)
chokepoint_unit_test(test_serve_feeds chokepoint_serve)
chokepoint_e2e_test(serve_answers)
chokepoint_e2e_test(serve_refuses)
chokepoint_e2e_test(serve_follows_a_run)
# `chokepoint top`
chokepoint_unit_test(test_top chokepoint_top)
chokepoint_unit_test(test_top_details chokepoint_top)
chokepoint_e2e_test(top_shows_a_run)
chokepoint_e2e_test(gpus_are_shown)
chokepoint_e2e_test(top_watches_hosts)

# Files that replace others.
chokepoint_failing_test(test_files_failing chokepoint_reports sqlite3)
target_sources(test_files_failing PRIVATE ../cli/base/output_stream.c ../cli/base/output.c)
foreach(call fdopen fileno ZSTD_createCCtx ZSTD_createDCtx)
  target_link_options(test_files_failing PRIVATE -Wl,--wrap=${call})
endforeach()
chokepoint_e2e_test(top_always_ends)
set_tests_properties(top_shows_a_run top_watches_hosts top_always_ends gpus_are_shown PROPERTIES RESOURCE_LOCK top)

add_executable(rename-host tools/rename_host.c)
target_link_libraries(rename-host PRIVATE chokepoint_common)
chokepoint_e2e_test(import_makes_a_run_again)
chokepoint_e2e_test(run_refuses_what_does_not_fit)

add_executable(spin-with-gpu tools/spin_with_gpu.c)
target_link_libraries(spin-with-gpu PRIVATE chokepoint_common ${CMAKE_DL_LIBS})
add_library(no-gpu MODULE tools/no_gpu.c)
set_target_properties(no-gpu PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
chokepoint_e2e_test(gpu_in_use_is_not_known)
