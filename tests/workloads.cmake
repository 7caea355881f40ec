# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_mark_ring chokepoint_mark Threads::Threads)
target_sources(test_mark_ring PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit/mark_second_unit.c)
chokepoint_unit_test(test_workload_data workload_data)
chokepoint_unit_test(test_sgd_math sgd_math)
