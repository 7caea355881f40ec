# SPDX-License-Identifier: MIT
add_executable(frame-dump tools/frame_dump.c)
target_link_libraries(frame-dump PRIVATE chokepoint_common)
chokepoint_unit_test(test_agent_spool chokepoint_agent)
set_tests_properties(test_agent_spool PROPERTIES LABELS "unit;threads")
chokepoint_unit_test(test_agent_sampler chokepoint_agent)

# The probes: on whole hosts as text, and on this machine against its own kernel.
chokepoint_unit_test(test_agent_fixtures chokepoint_agent)
chokepoint_unit_test(test_agent_change chokepoint_agent)
chokepoint_unit_test(test_agent_process chokepoint_agent)
chokepoint_unit_test(test_agent_kernel chokepoint_agent)
chokepoint_unit_test(test_agent_mark chokepoint_agent)
chokepoint_unit_test(test_agent_call chokepoint_agent)
chokepoint_unit_test(test_agent_netlink chokepoint_agent)
chokepoint_unit_test(test_agent_flow chokepoint_agent)
chokepoint_unit_test(test_agent_cgroup chokepoint_agent)
chokepoint_unit_test(test_agent_scope chokepoint_agent)
chokepoint_e2e_test(agent_killed)
chokepoint_e2e_test(agent_life)
chokepoint_e2e_test(agent_disk_full)
chokepoint_unit_test(test_agent_supervise chokepoint_agent)
chokepoint_unit_test(test_agent_wake chokepoint_agent)

# What is on the wire, against transfers of known size and known hindrance.
add_executable(tcp-transfer tools/tcp_transfer.c)
chokepoint_e2e_test(connection_is_what_was_sent)
chokepoint_e2e_test(flow_is_what_was_sent)
chokepoint_e2e_test(cgroup_quota_is_seen)
