/* SPDX-License-Identifier: MIT */
/*
 * A dynamic loader that is not ours, as a test of what may be preloaded needs one: it does what
 * musl's does with a library of glibc, which is to end with status 127, and with 42 otherwise. No C
 * library: the kernel jumps here with the stack of the program that names this file its loader.
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

/* stack: the number of arguments, these, NULL, the environment, NULL. */
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
