# SPDX-License-Identifier: MIT
# Benchmarks are built with everything else and run by hand: bin/bench_NAME of a release build.
add_executable(bench_collector_rate bench/collector_rate.c bench/light_push.c)
target_link_libraries(bench_collector_rate PRIVATE
  chokepoint_push chokepoint_collector chokepoint_agent chokepoint_store chokepoint_common sqlite3 gnutls Threads::Threads)
target_compile_definitions(bench_collector_rate PRIVATE
  CHOKEPOINT_COMMAND="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/chokepoint")
add_dependencies(bench_collector_rate chokepoint)
add_executable(bench_call_blocks bench/call_blocks.c) # bench/call_blocks.sh
target_link_libraries(bench_call_blocks PRIVATE chokepoint_store)
add_executable(bench_store_rate bench/store_rate.c)
target_link_libraries(bench_store_rate PRIVATE chokepoint_store sqlite3)
add_executable(bench_store_bytes bench/store_bytes.c)
target_link_libraries(bench_store_bytes PRIVATE chokepoint_store sqlite3)
add_executable(bench_pack_age bench/pack_age.c)
target_link_libraries(bench_pack_age PRIVATE chokepoint_store)

# Makes recordings of many hosts, to time commands: bench/analysis_speed.sh.
add_executable(bench_analysis_speed bench/analysis_speed.c)
target_link_libraries(bench_analysis_speed PRIVATE chokepoint_store chokepoint_analysis)

# A full system sample beside bare reads, sadc and, where it is installed, libproc2.
add_executable(bench_sample_cost bench/sample_cost.c)
target_link_libraries(bench_sample_cost PRIVATE chokepoint_agent)
pkg_check_modules(LIBPROC2 IMPORTED_TARGET libproc2)
if(LIBPROC2_FOUND)
  target_sources(bench_sample_cost PRIVATE bench/sample_cost_libproc2.c)
  target_link_libraries(bench_sample_cost PRIVATE PkgConfig::LIBPROC2)
else()
  target_sources(bench_sample_cost PRIVATE bench/sample_cost_without.c)
endif()
add_executable(ping-pong bench/ping_pong.c) # bench/wait_cost.sh
target_link_libraries(ping-pong PRIVATE Threads::Threads)
add_executable(bench_canary_moves bench/canary_moves.c)
add_executable(bench_budget_cost bench/budget_cost.c)
target_link_libraries(bench_budget_cost PRIVATE chokepoint_analysis)
add_executable(bench_process_cost bench/process_cost.c)
target_link_libraries(bench_process_cost PRIVATE chokepoint_agent)
add_executable(bench_crowd bench/crowd.c) # bench/agent_beside.py
add_executable(bench_call_drain bench/call_drain.c)
target_link_libraries(bench_call_drain PRIVATE chokepoint_agent)
if(TARGET chokepoint-mpi)
  find_package(MPI COMPONENTS C QUIET)
  add_executable(bench_shim_cost bench/shim_cost.c)
  target_link_libraries(bench_shim_cost PRIVATE MPI::MPI_C)
  add_executable(bench_mpi_rounds bench/mpi_rounds.c) # bench/mpi_full_node.py
  target_link_libraries(bench_mpi_rounds PRIVATE MPI::MPI_C)
endif()
if(TARGET chokepoint-matmul)
  add_executable(bench_matmul_gemm bench/matmul_gemm.c) # a yardstick of bench/matmul_gflops.sh
  target_link_libraries(bench_matmul_gemm PRIVATE PkgConfig::OPENBLAS)
endif()
add_executable(bench_random_update bench/random_update.c) # a yardstick of bench/sgd_single_rate.sh
target_link_libraries(bench_random_update PRIVATE workload_data)
target_compile_options(bench_random_update PRIVATE -O2)
add_executable(make-ring bench/make_ring.c) # bench/cut_rate.sh
target_link_libraries(make-ring PRIVATE chokepoint_agent)
if(TARGET chokepoint-remote-write)
  add_executable(bench_remote_write_hosts bench/remote_write_hosts.c) # bench/remote_write.py
  target_link_libraries(bench_remote_write_hosts PRIVATE chokepoint_store)
endif()
