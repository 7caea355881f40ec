# SPDX-License-Identifier: MIT
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
chokepoint_unit_test(test_reports_golden chokepoint_reports PkgConfig::JANSSON)
