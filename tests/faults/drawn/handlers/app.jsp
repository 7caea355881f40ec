<%@ page import="java.net.URL" %><%!
// SPDX-License-Identifier: MIT
// As common.py says.
static double number(String name) {
    String text = System.getenv(name);
    return text == null ? 0 : Double.parseDouble(text);
}
static void compute(double ms) {
    var clock = java.lang.management.ManagementFactory.getThreadMXBean();
    long end = clock.getCurrentThreadCpuTime() + (long) (ms * 1e6);
    while (clock.getCurrentThreadCpuTime() < end)
        ;
}
static final Object lock = new Object();
static void ask(String down) throws java.io.IOException {
    try (var in = new URL("http://" + down + "/").openStream()) {
        in.readAllBytes();
    }
}
%><%
compute(number("BASE_MS") + number("HANDLER_MS"));
String down = System.getenv("DOWN");
if (down != null && System.getenv("HOT") != null) {
    synchronized (lock) {
        ask(down);
    }
} else if (down != null) {
    ask(down);
}
out.print("done " + "x".repeat(30000));
%>
