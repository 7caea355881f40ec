-- SPDX-License-Identifier: MIT
-- Seven questions to ask of a recording by hand:
--
--     sqlite3 -box chokepoint.db < docs/queries.sql
--
-- Every table NAME has a view NAME_rate in which hosts and instances have their names, time_s counts from the start of
-- the command, counters of time are percent (user_pct) and other counters are per second (send_bytes_per_s). A row
-- covers interval_s seconds up to time_s, and while nothing happens a row may cover up to a second: a mean over time
-- is sum(rate * interval_s) / sum(interval_s). All of them ask about the newest run; put another number in the place of
-- (SELECT max(run) FROM run) to ask about that one.

-- 1. What was recorded, and how completely?
SELECT run, run_name, host, samples, missed, lost, duplicates, gaps, round(last_s - first_s, 1) AS seconds,
       round(clock_error_ms, 2) AS clock_error_ms
FROM run_host WHERE run = (SELECT max(run) FROM run) ORDER BY host_id;

-- 2. What did the cores of each host do, in percent of the time?
SELECT host, round(sum(user_pct * interval_s) / sum(interval_s), 1) AS user,
       round(sum(system_pct * interval_s) / sum(interval_s), 1) AS system,
       round(sum(iowait_pct * interval_s) / sum(interval_s), 1) AS iowait,
       round(sum(steal_pct * interval_s) / sum(interval_s), 1) AS steal,
       round(sum(idle_pct * interval_s) / sum(interval_s), 1) AS idle
FROM cpu_rate WHERE run = (SELECT max(run) FROM run) AND time_s - interval_s >= 0 GROUP BY host ORDER BY host;

-- 3. How much went over the network, in MB/s: on average, and in the busiest tenth of a second of one interface?
SELECT host,
       round(sum(receive_bytes_per_s * interval_s) / (max(time_s) - min(time_s - interval_s)) / 1e6, 2) AS received,
       round(sum(send_bytes_per_s * interval_s) / (max(time_s) - min(time_s - interval_s)) / 1e6, 2) AS sent,
       round(max(receive_bytes_per_s) / 1e6, 2) AS peak_received, round(max(send_bytes_per_s) / 1e6, 2) AS peak_sent
FROM net_rate
WHERE run = (SELECT max(run) FROM run) AND interface <> 'lo' AND time_s - interval_s >= 0 GROUP BY host ORDER BY host;

-- 4. Which processes used the CPUs, and how long did they wait for one?
SELECT host, process, max(rank) AS rank, round(sum((user_pct + system_pct) * interval_s) / 100, 2) AS cpu_s,
       round(sum(run_queue_pct * interval_s) / 100, 2) AS waited_s, round(max(rss_bytes) / 1e6, 1) AS memory_mb
FROM process_rate WHERE run = (SELECT max(run) FROM run) GROUP BY host, process ORDER BY cpu_s DESC LIMIT 10;

-- 5. How long did the phases and iterations take that the program marked, rank by rank?
SELECT host, rank, CASE kind WHEN 1 THEN 'phase' WHEN 2 THEN 'iteration' ELSE 'operator' END AS what, name,
       count(*) AS times, round(avg(duration_ns) / 1e6, 2) AS mean_ms, round(max(duration_ns) / 1e6, 2) AS longest_ms
FROM mark_rate
WHERE run = (SELECT max(run) FROM run) AND kind IN (1, 2, 3) AND duration_ns IS NOT NULL
GROUP BY host, rank, kind, name ORDER BY rank, kind, name;

-- 6. Where did the time of each rank go, phase by phase, in percent of the wall time?
SELECT phase, host, rank, round(wall_ns / 1e9, 2) AS wall_s, round(100.0 * cpu_ns / wall_ns, 1) AS computing,
       round(100.0 * (coalesce(runqueue_ns, 0) + coalesce(quota_ns, 0) + coalesce(steal_ns, 0)) / wall_ns, 1) AS no_core,
       round(100.0 * (coalesce(disk_ns, 0) + coalesce(memory_ns, 0)) / wall_ns, 1) AS disk_memory,
       round(100.0 * idle_ns / wall_ns, 1) AS idle, round(100.0 * peer_wait_ns / wall_ns, 1) AS peer_wait,
       round(100.0 * transfer_ns / wall_ns, 1) AS transfer, awaited_rank
FROM budget WHERE run = (SELECT max(run) FROM run) AND iteration IS NULL ORDER BY min(n) OVER (PARTITION BY phase), n;

-- 7. Which iterations took longest, and what was there more of than in that rank's others, in ms?
SELECT i.iteration, i.host, i.rank, round(i.wall_ns / 1e6, 1) AS wall_ms,
       round((i.cpu_ns - m.cpu) / 1e6, 1) AS computing, round((i.runqueue_ns - m.runqueue) / 1e6, 1) AS run_queue,
       round((i.idle_ns - m.idle) / 1e6, 1) AS idle, round((i.peer_wait_ns - m.peer_wait) / 1e6, 1) AS peer_wait,
       round((i.transfer_ns - m.transfer) / 1e6, 1) AS transfer
FROM budget i JOIN (SELECT run, host, process, phase, avg(cpu_ns) AS cpu, avg(runqueue_ns) AS runqueue,
                           avg(idle_ns) AS idle, avg(peer_wait_ns) AS peer_wait, avg(transfer_ns) AS transfer
                    FROM budget WHERE iteration IS NOT NULL GROUP BY run, host, process, phase) m
     USING (run, host, process, phase)
WHERE run = (SELECT max(run) FROM run) AND i.iteration IS NOT NULL ORDER BY i.wall_ns DESC, i.n LIMIT 10;
