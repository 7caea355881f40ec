/* SPDX-License-Identifier: MIT */
/* Its loader (other_loader.c) ends before it gets here. */
int main(void) {
    return 1;
}
