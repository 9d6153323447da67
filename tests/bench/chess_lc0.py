"""Positions a second of libmlxrocm and of the CPU backends of an lc0 that was built here, measured by turns; prints a
table of medians. lc0 measures itself (`backendbench`): N threads, each with batches of its own, through one backend.

usage: chess_lc0.py 13_chess LC0 NET [--rounds 5] [--threads 1,2] [--backends blas,eigen]
"""

import argparse
import re
import statistics
import subprocess

BATCHES = [1, 16, 64, 256]
POSITIONS = 2000


def cpu_model():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown")


def ours(args, threads):
    """Positions a second, by batch."""
    out = subprocess.run([args.example, "--bench", args.net, str(threads)], check=True, capture_output=True, text=True)
    found = re.findall(r"batch +(\d+): (\d+) positions/s", out.stdout)
    return {int(batch): float(speed) for batch, speed in found}


def theirs(args, backend, threads, batch):
    """The mean that the engine prints."""
    command = [args.lc0, "backendbench", "-w", args.net, "-b", backend, "-t", str(threads)]
    command += [f"--start-batch-size={batch}", f"--max-batch-size={batch}", "--no-clippy"]
    command += [f"--batches={max(POSITIONS * threads // batch, 8 * threads)}"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    row = next(line for line in out.splitlines() if re.match(rf" *{batch},", line))
    return float(row.split(",")[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("example")
    parser.add_argument("lc0")
    parser.add_argument("net")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--backends", default="blas,eigen")
    args = parser.parse_args()
    backends = args.backends.split(",")
    samples = {}
    for _ in range(args.rounds):
        for threads in (int(n) for n in args.threads.split(",")):
            mine = ours(args, threads)
            for batch in BATCHES:
                row = [mine[batch]] + [theirs(args, backend, threads, batch) for backend in backends]
                samples.setdefault((threads, batch), []).append(row)
    print(f"{cpu_model()}; {args.rounds} rounds by turns; medians (lowest to highest)\n")
    ratios = [f"times {backend}" for backend in backends]
    print("| threads | batch | libmlxrocm | " + " | ".join(backends + ratios) + " |")
    print("|--:|--:" + "|--:" * (1 + 2 * len(backends)) + "|")
    for (threads, batch), rows in samples.items():
        def cell(values, form="{:,.0f}"):
            shown = [form.format(x) for x in (statistics.median(values), min(values), max(values))]
            return "{} ({}–{})".format(*shown)

        columns = [cell(values) for values in zip(*rows)]
        columns += [cell([row[0] / row[i] for row in rows], "{:.1f}") for i in range(1, len(backends) + 1)]
        print(f"| {threads} | {batch} | " + " | ".join(columns) + " |")


main()
