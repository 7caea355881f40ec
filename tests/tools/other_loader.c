/* SPDX-License-Identifier: MIT */
/*
 * A foreign dynamic loader, for a test of what may be preloaded. It does what musl's loader does
 * with a library of glibc, which is to end with status 127; otherwise it ends with 42. It has no C
 * library: the kernel jumps here with the stack of the program that names this file as its loader.
 */
static const char prefix[] = "LD_PRELOAD=";

__attribute__((noreturn)) static void end(long status) {
#if defined __x86_64__
    __asm__ volatile("syscall" : : "a"(231L), "D"(status) : "rcx", "r11", "memory");
#elif defined __aarch64__
    register long number __asm__("x8") = 94, first __asm__("x0") = status;
    __asm__ volatile("svc 0" : : "r"(number), "r"(first) : "memory");
#endif
    for (;;) {
    }
}

/* stack: the number of arguments, the arguments, NULL, the environment, NULL. */
__attribute__((noreturn, used)) void other_loader(long *stack) {
    char **variable = (char **)(stack + 1) + stack[0] + 1;
    for (; *variable; variable++) {
        int n = 0;
        while (prefix[n] && (*variable)[n] == prefix[n])
            n++;
        if (!prefix[n] && (*variable)[n])
            end(127);
    }
    end(42);
}

#if defined __x86_64__
__asm__(".globl _start\n_start: mov %rsp, %rdi\nand $-16, %rsp\ncall other_loader\n");
#elif defined __aarch64__
__asm__(".globl _start\n_start: mov x0, sp\nbl other_loader\n");
#endif
