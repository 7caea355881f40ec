# SPDX-License-Identifier: MIT
# chokepoint-agent --tables | awk -f man/metrics.awk > man/chokepoint-metrics.7
BEGIN {
    print ".\\\" SPDX-License-Identifier: MIT"
    print ".\\\" Made by man/metrics.awk from the output of chokepoint-agent --tables."
    print ".Dd November 20, 2026\n.Dt CHOKEPOINT-METRICS 7\n.Os Chokepoint"
    print ".Sh NAME\n.Nm chokepoint-metrics\n.Nd what is measured"
    print ".Sh DESCRIPTION"
    print "One table of the database for each heading; in parentheses, what its instances are."
    print "A counter grows: the database holds its growth since the row before and the time that took"
    print ".Pq Li interval_ns ."
    print "A level is a state at the instant of the sample."
    print "Rows of a table of events each stand for something that happened."
    print "A value the kernel does not give is NULL."
    print "In the view"
    print ".Ar NAME Ns Li _rate"
    print "counters in ns are percent of the time"
    print ".Pq Li user_ns : user_pct ,"
    print "other counters so many a second"
    print ".Pq Li send_bytes : send_bytes_per_s ."
}
{ gsub(/\\/, "\\e"); gsub(/`/, "") }
/^## / { if (open) print ".El"; open = 0; print ".Ss " substr($0, 4); next }
/^\|---/ || /^$/ { next }
/^\| column / { print ".Bl -tag -width indent"; open = 1; next }
/^\| / {
    split(substr($0, 3), cell, / *\| */)
    print ".It Li " cell[1] (cell[2] == "" ? " Pq " : " Pq " cell[2] ", ") cell[3]
    print cell[4] "."
    next
}
{ print toupper(substr($0, 1, 1)) substr($0, 2) "." }
END {
    print ".El\n.Sh EXAMPLES\nThe most that each interface sent, in MB/s:"
    print ".Bd -literal -offset indent"
    print "SELECT host, interface, max(send_bytes_per_s) / 1e6 FROM net_rate"
    print "WHERE run = 1 GROUP BY host, interface;\n.Ed"
    print ".Sh SEE ALSO\n.Xr chokepoint 1 ,\n.Xr chokepoint-agent 1"
}
