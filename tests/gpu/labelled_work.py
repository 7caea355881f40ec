#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Work for one GPU whose limit is known, a phase a cause (check.sh has the table of truths). Prints a JSON line a phase:
start, end, iterations, CPU time. With --gap 0 and one phase it is one program with one limit."""
import argparse
import json
import os
import resource
import subprocess
import sys
import time

t00 = time.time()
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

p = argparse.ArgumentParser(); p.add_argument('--phases', default=''); p.add_argument('--seconds', type=float, default=6); p.add_argument('--out', default='-'); p.add_argument('--gap', type=float, default=1.0); p.add_argument('--ask', action='store_true', help='take phases from standard input, a line each'); p.add_argument('--beside', choices=('inside', 'outside'), default='inside', help='who starts other programs of a phase')
a = p.parse_args()
dev = torch.device('cuda'); torch.backends.cuda.matmul.allow_tf32 = False
out = sys.stdout if a.out == '-' else open(a.out, 'w')
def ru():
    r = resource.getrusage(resource.RUSAGE_SELF); return dict(user=r.ru_utime, sys=r.ru_stime, vcsw=r.ru_nvcsw, icsw=r.ru_nivcsw)
def loop(f, s, sync_every=1):
    torch.cuda.synchronize(); t0 = time.time(); n = 0; r0 = ru()
    while time.time() - t0 < s:
        f(); n += 1
        if sync_every and n % sync_every == 0: torch.cuda.synchronize()
    torch.cuda.synchronize(); t1 = time.time(); r1 = ru()
    return dict(t0=t0, t1=t1, iterations=n, per_s=n / (t1 - t0), cpu={k: r1[k] - r0[k] for k in r0})
class Net(nn.Module):
    def __init__(s, w=64):
        super().__init__(); L = []; c = 3
        for o in (w, w, 2 * w, 2 * w, 4 * w, 4 * w): L += [nn.Conv2d(c, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU()] + ([nn.MaxPool2d(2)] if o != c and c != 3 else []); c = o
        s.f = nn.Sequential(*L); s.h = nn.Linear(c, 10)
    def forward(s, x): return s.h(s.f(x).mean((2, 3)))
class LeNet(nn.Module):
    def __init__(s):
        super().__init__(); s.a = nn.Conv2d(1, 6, 5, padding=2); s.b = nn.Conv2d(6, 16, 5); s.c = nn.Linear(400, 120); s.d = nn.Linear(120, 84); s.e = nn.Linear(84, 10)
    def forward(s, x):
        x = F.max_pool2d(torch.tanh(s.a(x)), 2); x = F.max_pool2d(torch.tanh(s.b(x)), 2).flatten(1)
        return s.e(torch.tanh(s.d(torch.tanh(s.c(x)))))
def stepper(model, batch, hw=32, ch=3, amp=True, host=None, logs=False):
    opt = torch.optim.SGD(model.parameters(), lr=.01, momentum=.9); x = torch.randn(batch, ch, hw, hw, device=dev); y = torch.randint(0, 10, (batch,), device=dev)
    def one(xx=None, yy=None):
        xx = x if xx is None else xx; yy = y if yy is None else yy
        opt.zero_grad(set_to_none=True)
        with torch.autocast('cuda', dtype=torch.bfloat16, enabled=amp): l = F.cross_entropy(model(xx), yy)
        l.backward(); opt.step()
        return float(l.detach()) if logs else None
    return one
class Slow(Dataset):
    def __init__(s, kind): s.kind = kind; s.d = np.random.randint(0, 255, (512, 3, 40, 40), dtype=np.uint8)
    def __len__(s): return 10**7
    def __getitem__(s, i):
        x = s.d[i % 512]
        if s.kind == 'cpu':
            for _ in range(3): x = np.roll(x, 1, 1); q = np.sort(x.reshape(3, -1), 1)
            x = x.astype(np.float32) / 255
        elif s.kind == 'sleep': time.sleep(.004); x = x.astype(np.float32) / 255
        else: x = x.astype(np.float32) / 255
        return torch.from_numpy(np.ascontiguousarray(x[:, 4:36, 4:36])), i % 10
def loader_phase(kind, workers, s, batch=128, w=64):
    one = stepper(Net(w).to(dev), batch); it = iter(DataLoader(Slow(kind), batch_size=batch, num_workers=workers, pin_memory=True))
    def f():
        x, y = next(it); one(x.to(dev, non_blocking=True), y.to(dev, non_blocking=True))
    f(); r = loop(f, s); del it; return r
def P_idle(s): t0 = time.time(); time.sleep(s); return dict(t0=t0, t1=time.time(), iterations=0)
def P_gemm_bf16(s):
    x = torch.randn(8192, 8192, device=dev, dtype=torch.bfloat16); y = torch.randn_like(x); return loop(lambda: x @ y, s, 20)
def P_gemm_fp32(s):
    x = torch.randn(8192, 8192, device=dev); y = torch.randn_like(x); return loop(lambda: x @ y, s, 5)
def P_gemm_fp64(s):
    x = torch.randn(4096, 4096, device=dev, dtype=torch.float64); y = torch.randn_like(x); return loop(lambda: x @ y, s, 5)
def P_dram(s):
    x = torch.empty(1 << 30, device=dev, dtype=torch.float32).normal_(); y = torch.empty_like(x); return loop(lambda: torch.add(x, 1.0, out=y), s, 20)
def P_launch(s):
    x = torch.randn(256, device=dev)
    def f():
        z = x
        for _ in range(200): z = z * 1.0001
    return loop(f, s, 1)
def P_synceach(s):
    x = torch.randn(256, device=dev); return loop(lambda: (x * 1.0001).sum().item(), s, 0)
def P_h2d_pinned(s):
    h = torch.empty(64 << 20, dtype=torch.float32).pin_memory(); d = torch.empty(64 << 20, device=dev); return loop(lambda: d.copy_(h, non_blocking=True), s, 4)
def P_h2d_pageable(s):
    h = torch.zeros(64 << 20, dtype=torch.float32); h.fill_(1); d = torch.empty(64 << 20, device=dev); return loop(lambda: d.copy_(h), s, 1)
def P_d2h(s):
    h = torch.empty(64 << 20, dtype=torch.float32).pin_memory(); d = torch.zeros(64 << 20, device=dev); return loop(lambda: h.copy_(d, non_blocking=True), s, 4)
def P_train_gpu(s): return loop(stepper(Net(128).to(dev), 512), s, 5)
def P_train_log_each(s): return loop(stepper(Net(32).to(dev), 64, logs=True), s, 0)
def P_train_small(s): return loop(stepper(Net(32).to(dev), 4), s, 10)
def P_lenet(s): return loop(stepper(LeNet().to(dev), 64, 28, 1, False), s, 10)
def P_input_cpu0(s): return loader_phase('cpu', 0, s)
def P_input_cpu4(s): return loader_phase('cpu', 4, s)
def P_input_sleep2(s): return loader_phase('sleep', 2, s, 64)
def P_input_fast8(s): return loader_phase('', 8, s, 256, 128)
def P_contended(s):
    if a.beside == 'outside': return loop(stepper(Net(128).to(dev), 512), s, 5)
    q = subprocess.Popen([sys.executable, __file__, '--phases', 'gemm_bf16', '--seconds', str(s + 25), '--gap', '0'], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    q.stdout.readline() # it has its GPU
    r = loop(stepper(Net(128).to(dev), 512), s, 5); q.terminate(); q.wait(); r['beside'] = 'another process: bf16 matrix products'; return r
def P_cpu_starved(s):
    me = os.sched_getaffinity(0); os.sched_setaffinity(0, {3})
    hogs = [] if a.beside == 'outside' else [subprocess.Popen(['taskset', '-c', '3', sys.executable, '-c', 'while 1: pass']) for _ in range(3)]
    try: return loop(stepper(Net(32).to(dev), 64), s, 10)
    finally:
        for h in hogs: h.terminate(); h.wait()
        os.sched_setaffinity(0, me)
def P_memory_full(s):
    f, t = torch.cuda.mem_get_info(); keep = torch.empty(int(f - (3 << 30)), dtype=torch.uint8, device=dev); keep.fill_(1)
    one = stepper(Net(128).to(dev), 384)
    def g():
        one()
        torch.cuda.empty_cache()
    r = loop(g, s, 1); del keep; torch.cuda.empty_cache(); return r
def P_optimizer_cpu(s):
    w = torch.randn(4 << 20); 
    one = stepper(Net(64).to(dev), 256)
    def g():
        one(); torch.cuda.synchronize()
        for _ in range(4): w.mul_(.999).add_(.001)
    return loop(g, s, 1)
def P_checkpoint(s):
    m = Net(256).to(dev); one = stepper(m, 256); n = [0]
    def g():
        one(); n[0] += 1
        if n[0] % 40 == 0: torch.save(m.state_dict(), '/tmp/ck.pt'); fd = os.open('/tmp/ck.pt', os.O_RDONLY); os.fsync(fd); os.close(fd)
    return loop(g, s, 5)
ALL = [k[2:] for k in list(globals()) if k.startswith('P_')]
names = a.phases.split(',') if a.phases else ALL
torch.randn(64, 64, device=dev) @ torch.randn(64, 64, device=dev); torch.cuda.synchronize()
print(json.dumps(dict(event='start', pid=os.getpid(), import_s=time.time() - t00, torch=torch.__version__, device=torch.cuda.get_device_name(0), phases=names)), file=out, flush=True)
for n in (line.strip() for line in sys.stdin) if a.ask else names:
    try:
        r = globals()['P_' + n](a.seconds)
    except Exception as e:
        r = dict(error=repr(e)[:300], t0=time.time(), t1=time.time())
    torch.cuda.empty_cache(); r['phase'] = n; print(json.dumps(r), file=out, flush=True); time.sleep(a.gap)
