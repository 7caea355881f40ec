# SPDX-License-Identifier: MIT
# Lists the verbs in chokepoint.1 as `chokepoint --help` does:
#   chokepoint --help | awk -f man/verbs.awk - man/chokepoint.1
FNR == NR && /^  [a-z]/ {
    name = $1
    sub(/^ +[a-z]+ +/, "")
    list = list ".It Cm " name "\n" $0 ":\n.Xr chokepoint-" name " 1\n"
}
FNR == NR { next }
/^\.El/ && inside { printf "%s", list; inside = 0 }
!inside
/^\.Bl -tag -width collector/ { inside = 1 }
