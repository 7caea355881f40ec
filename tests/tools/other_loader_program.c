/* SPDX-License-Identifier: MIT */
/* Started by the loader that it names (other_loader.c), which never comes here. */
int main(void) {
    return 1;
}
