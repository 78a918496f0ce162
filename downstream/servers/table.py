"""Makes the table of measure: lines of NAME ROUND REQUESTS TICKS CALLS. Round 0 has the system calls, the others the CPU time."""
import os
import statistics
import sys

calls, times = {}, {}
for line in open(sys.argv[1]):
    name, turn, requests, ticks, called = line.split()
    if turn == "0":
        calls[name] = int(called) / int(requests)
    else:
        times.setdefault(name, []).append(int(ticks) / os.sysconf("SC_CLK_TCK") / int(requests) * 1e6)
first = next(iter(calls))
for name, each in calls.items():
    ratios = [a / b for a, b in zip(times.get(name, []), times.get(first, []))]
    spread = f"{statistics.median(ratios):.3f} [{min(ratios):.3f}, {max(ratios):.3f}]" if ratios else ""
    cpu = f"{statistics.median(times[name]):.2f}" if ratios else ""
    print(f"{name:12} {each:8.3f} {cpu:>8} {spread}")
