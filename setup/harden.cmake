# SPDX-License-Identifier: MIT
# Release builds are hardened, packages among them; tests/tools/check_hardening.py checks the built files. Builds with
# sanitizers or without optimisation are not: FORTIFY needs the optimiser, and sanitizers find more.
#
# FORTIFY has the highest level that the compiler's header takes. Programs use -fPIE and not -fPIC, since -fPIC would
# keep the compiler from inlining functions that another file could replace.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT CHOKEPOINT_SANITIZE AND NOT CHOKEPOINT_TSAN
   AND NOT CHOKEPOINT_FUZZ)
  set(harden_default ON)
else()
  set(harden_default OFF)
endif()
option(CHOKEPOINT_HARDEN "stack protector, FORTIFY, position-independent programs, read-only relocations" ${harden_default})
if(NOT CHOKEPOINT_HARDEN)
  return()
endif()

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "CHOKEPOINT_HAS${flag}" has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options(${flag})
  endif()
endforeach()
set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
check_c_source_compiles("#include <string.h>
#if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL < 3
#error the C library and this compiler do not know it
#endif
int main(void) { return 0; }" CHOKEPOINT_HAS_FORTIFY_3)
unset(CMAKE_REQUIRED_FLAGS)
if(CHOKEPOINT_HAS_FORTIFY_3)
  set(fortify_level 3)
else()
  set(fortify_level 2)
endif()
add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify_level}
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>>:-fPIE>)
add_link_options(-Wl,-z,relro,-z,now,-z,noexecstack $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie>)
