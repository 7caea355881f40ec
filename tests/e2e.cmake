# SPDX-License-Identifier: MIT
# `chokepoint run`: finding hosts, starting agents, being transparent to the command.
chokepoint_unit_test(test_hosts chokepoint_launch)
chokepoint_unit_test(test_command_words chokepoint_launch)
