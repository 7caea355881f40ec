# SPDX-License-Identifier: MIT
# The build options of `mutate`: rooms are shared libraries, so that a mutant costs one file and one
# library. Rooms that call each other resolve symbols at run time, at the first call.
set(CMAKE_LINK_DEPENDS_NO_SHARED ON)
string(APPEND CMAKE_EXE_LINKER_FLAGS " -Wl,--unresolved-symbols=ignore-in-shared-libs,-z,lazy")
macro(add_library name)
  set(mutate_arguments ${ARGN})
  list(TRANSFORM mutate_arguments REPLACE "^STATIC$" SHARED)
  _add_library(${name} ${mutate_arguments})
endmacro()
