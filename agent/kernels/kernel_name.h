/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_AGENT_KERNELS_KERNEL_NAME_H
#define CHOKEPOINT_AGENT_KERNELS_KERNEL_NAME_H

#include <stddef.h>

/*
 * "_ZN2at6native20batch_norm_backward_IffEEvPf" as "at::native::batch_norm_backward_", cut to what
 * to[size] has room for (size > 0); names that are not of C++ as they are. Bytes that cannot be
 * printed become '?'. It is no whole demangler: operators and lambdas keep their mangled names.
 */
void kernel_name_write(const char *mangled, char *to, size_t size);

#endif
