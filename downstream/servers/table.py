"""Makes the table of measure. Each line of the file is LIBRARY WHAT CONNECTIONS ANSWERED NUMBER..., ours last in each round.

WHAT is `calls`, `instructions` (in the library; and with what it calls of the C library), or `time` (in ticks).
"""
import os
import statistics
import sys

counts, times = {}, {}
for line in open(sys.argv[1]):
    name, what, connections, answered, *numbers = line.split()
    each = [float(number) / int(answered) for number in numbers]
    if what == "time":
        times.setdefault(name, []).append(each[0] / os.sysconf("SC_CLK_TCK") * 1e6)
    else:
        counts[name, what, connections] = each

connections = sorted({key[2] for key in counts}, key=int)
print(f"{'':14}{'system calls':>16}{'instructions in it':>24}{'with the C library':>24}{'CPU, us':>10}  ours to it [spread]")
print(f"{'connections':14}" + "".join(f"{c:>{w}}" for w in (8, 12, 12) for c in connections))
for name, mine in times.items():
    row = f"{name:14}"
    for what, place, width, digits in (("calls", 0, 8, 3), ("instructions", 0, 12, 0), ("instructions", 1, 12, 0)):
        for each in connections:
            row += f"{counts[name, what, each][place]:{width}.{digits}f}"
    row += f"{statistics.median(mine):10.2f}"
    if name != "ours":
        ratios = [ours / theirs for ours, theirs in zip(times["ours"], mine)]
        ratio = statistics.median(times["ours"]) / statistics.median(mine)
        row += f"  {ratio:.3f} [{min(ratios):.3f}, {max(ratios):.3f}]"
    print(row)
