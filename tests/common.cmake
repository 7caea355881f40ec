# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_common_wire chokepoint_common)
