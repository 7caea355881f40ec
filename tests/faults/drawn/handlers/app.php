<?php
// SPDX-License-Identifier: MIT
// As common.py says.
function compute($ms) {
    $cpu = function () { $u = getrusage(); return $u['ru_utime.tv_sec'] * 1e6 + $u['ru_utime.tv_usec'] + $u['ru_stime.tv_sec'] * 1e6 + $u['ru_stime.tv_usec']; };
    $end = $cpu() + $ms * 1e3;
    while ($cpu() < $end)
        ;
}
compute((float)getenv('BASE_MS') + (float)getenv('HANDLER_MS'));
if (getenv('HOT')) {
    $file = fopen(getenv('HOT'), 'c');
    flock($file, LOCK_EX);
}
if (getenv('DOWN'))
    file_get_contents('http://' . getenv('DOWN') . '/');
if (getenv('HOT'))
    fclose($file);
echo 'done ' . str_repeat('x', 30000);
