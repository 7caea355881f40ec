# SPDX-License-Identifier: MIT
chokepoint_unit_test(test_cli_testbed chokepoint_testbed)
chokepoint_e2e_test(testbed_lifecycle)
chokepoint_e2e_test(testbed_mpi mpi)
chokepoint_e2e_test(verbs)
