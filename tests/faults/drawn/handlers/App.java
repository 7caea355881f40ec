// SPDX-License-Identifier: MIT

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URL;
import java.util.concurrent.Executors;

/** A server of the JDK's own classes: App PORT THREADS. As common.py says. */
public class App {
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

    static void ask(String down) throws java.io.IOException {
        try (var in = new URL("http://" + down + "/").openStream()) {
            in.readAllBytes();
        }
    }

    public static void main(String[] words) throws Exception {
        double ms = number("BASE_MS") + number("HANDLER_MS");
        String down = System.getenv("DOWN");
        boolean hot = System.getenv("HOT") != null;
        byte[] body = ("done " + "x".repeat(30000)).getBytes();
        var server = HttpServer.create(new InetSocketAddress("0.0.0.0", Integer.parseInt(words[0])), 500);
        server.createContext("/", exchange -> {
            compute(ms);
            if (down != null && hot) {
                synchronized (App.class) {
                    ask(down);
                }
            } else if (down != null) {
                ask(down);
            }
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(words[1])));
        server.start();
    }
}
