# SPDX-License-Identifier: MIT
# Pages in a browser: tests/browser/NAME.test.js, skipped where node, npm's packages or chromium cannot be had.
function(chokepoint_browser_test name)
  add_test(NAME browser_${name} COMMAND ${BASH_PROGRAM} ${CMAKE_CURRENT_SOURCE_DIR}/browser/run.sh ${name}.test.js)
  set_tests_properties(browser_${name} PROPERTIES LABELS "e2e;browser" TIMEOUT 900 SKIP_RETURN_CODE 77 RESOURCE_LOCK browser PROCESSORS 4
    ENVIRONMENT "CHOKEPOINT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};CHOKEPOINT_SOURCE=${PROJECT_SOURCE_DIR}")
endfunction()

chokepoint_browser_test(page)
chokepoint_browser_test(serve)
