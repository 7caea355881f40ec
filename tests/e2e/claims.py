# SPDX-License-Identifier: MIT
"""Claims of an end-to-end test about documents: a line for each, and exit status 1 if one is wrong.

    from claims import done, hold       in a program that claims() of run_lib.sh runs
"""
import sys

_wrong = []


def hold(claim, good, found):
    """Prints whether CLAIM holds, and what was FOUND."""
    print(f"{'ok' if good else 'WRONG'}: {claim}: {found}")
    if not good:
        _wrong.append(claim)


def done():
    """Ends the test: status 1 if a claim was wrong."""
    sys.exit(len(_wrong) > 0)
