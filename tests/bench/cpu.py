"""Alternating measurements of libmlxrocm, ik_llama.cpp and llama.cpp on the CPU; `cpu.sh` prepares and calls it.

Each round runs every row once, each in a process of its own, after waiting for an idle machine. For every run the
CPU time that others used meanwhile is recorded (/proc/stat less the run's own rusage), and the time stolen by the
host. A sample counts as quiet if both together stay below QUIET cores; medians are taken over quiet samples where
a row has at least three, else over all, and the table says which.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

PROMPT, DECODE = 512, 128
QUIET = 0.15
# Seconds a run waits for an idle machine before it goes on all the same.
IDLE_WAIT = float(os.environ.get("BENCH_IDLE_WAIT", "120"))
HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "<!-- bench-cpu:begin -->", "<!-- bench-cpu:end -->"
TICK = os.sysconf("SC_CLK_TCK")
OURS, IK, IK_PLAIN, LLAMA = "libmlxrocm", "ik_llama.cpp (-fa)", "ik_llama.cpp", "llama.cpp"
ROWS = [OURS, IK, IK_PLAIN, LLAMA]


def cpu_seconds():
    """(busy, stolen) CPU seconds of the machine since it started."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _iowait, irq, softirq, steal = (int(x) for x in stat.readline().split()[1:9])
    return (user + nice + system + irq + softirq) / TICK, steal / TICK


def wait_for_idle():
    """Waits until others use less than QUIET cores for a second. Returns whether that came to be."""
    end = time.monotonic() + IDLE_WAIT
    while True:
        before = sum(cpu_seconds())
        time.sleep(1.0)
        if sum(cpu_seconds()) - before < QUIET:
            return True
        if time.monotonic() > end:
            return False


def run(command, env=None):
    """Runs a command; (its stdout, cores that others used, cores stolen by the host)."""
    wait_for_idle()
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy, stolen = cpu_seconds()
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})})
    wall = time.monotonic() - began
    busy, stolen = cpu_seconds()[0] - busy, cpu_seconds()[1] - stolen
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed ({done.returncode}):\n{done.stderr[-2000:]}")
    return done.stdout, max(0.0, (busy - used) / wall), stolen / wall


def measure(row, threads, args):
    """One sample: a dictionary with prompt_tok_s, decode_tok_s and what else the program tells."""
    numbers = ["--prompt", str(PROMPT), "--decode", str(DECODE)]
    if row == OURS:
        command = [args.ours, args.model, str(threads), str(PROMPT), str(DECODE)]
    elif row == LLAMA:
        command = [args.llama_bench, "-m", args.model, "-p", str(PROMPT), "-n", str(DECODE), "-t", str(threads),
                   "-r", "1", "-o", "json"]  # fmt: skip
    else:
        command = [args.ik_python, os.path.join(HERE, "ik_child.py"), args.model, "--threads", str(threads), *numbers]
        if row == IK:
            command.append("--flash-attention")
    stdout, foreign, stolen = run(command)
    sample = json.loads(stdout)
    if row == LLAMA:
        rate = {(r["n_prompt"], r["n_gen"]): r["avg_ts"] for r in sample}
        sample = {"prompt_tok_s": rate[PROMPT, 0], "decode_tok_s": rate[0, DECODE]}
    sample.update(row=row, threads=threads, foreign=foreign, stolen=stolen)
    return sample


class Results:
    """All samples, by round."""

    def __init__(self):
        self.rounds = []
        self.bandwidth = []

    def select(self, row, threads):
        """(samples, whether they are all quiet)."""
        every = [s for r in self.rounds for s in r if (s["row"], s["threads"]) == (row, threads)]
        quiet = [s for s in every if s["foreign"] + s["stolen"] < QUIET]
        return (quiet, True) if len(quiet) >= 3 else (every, False)

    def values(self, row, threads, key):
        return [s[key] for s in self.select(row, threads)[0]]

    def ratios(self, other, threads, key):
        """libmlxrocm / other within each round, of quiet samples where there are enough."""
        ours, theirs = (self.select(row, threads)[0] for row in (OURS, other))
        out = []
        for r in self.rounds:
            a = [s[key] for s in r if s in ours and s["threads"] == threads]
            b = [s[key] for s in r if s in theirs and s["threads"] == threads]
            if a and b:
                out.append(a[0] / b[0])
        return out

    def read_rate(self, threads):
        every = [b for b in self.bandwidth if b["threads"] == threads]
        quiet = [b for b in every if b["foreign"] + b["stolen"] < QUIET]
        return [b["median_gb_s"] for b in (quiet if len(quiet) >= 3 else every)]

    def quiet(self, threads_list):
        return all(self.select(row, t)[1] for row in ROWS for t in threads_list)


def spread(values, digits=0):
    if not values:
        return "none"
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def machine():
    name, flags = "unknown CPU", ""
    with open("/proc/cpuinfo") as info:
        for line in info:
            key, _, value = line.partition(":")
            if key.strip() == "model name" and name == "unknown CPU":
                name = value.strip()
            if key.strip() == "cpu family":
                family = value.strip()
            if key.strip() == "model":
                number = value.strip()
            if key.strip() == "flags":
                flags = value
    wide = "AVX-512 VNNI" if "avx512_vnni" in flags else "AVX-512" if "avx512f" in flags else "AVX2"
    cores = len(os.sched_getaffinity(0))
    return f"{name} (family {family}, model {number}; {wide}), {cores} CPUs"


def mark(name):
    """Begins the block of a machine."""
    return f"<!-- bench-cpu: {name} -->"


def table(results, threads_list, weight_bytes, model_bytes):
    lines = [
        mark(machine()),
        f"Demo model (SmolLM2-135M-Instruct, Q4_1 GGUF as it is) on {machine()}; {len(results.rounds)} alternating "
        f"rounds, measured {time.strftime('%Y-%m-%d')}. Median (lowest–highest) in tokens per second.",
        "",
        f"| | threads | prefill {PROMPT} | decode {DECODE} | share of read bandwidth | CPU used by others, cores |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    notes = []
    for threads in threads_list:
        rate = statistics.median(results.read_rate(threads)) * 1e9
        for row in ROWS:
            samples, quiet = results.select(row, threads)
            decode = results.values(row, threads, "decode_tok_s")
            share = statistics.median(decode) * weight_bytes / rate
            foreign = [s["foreign"] + s["stolen"] for s in samples]
            star = "" if quiet else " \\*"
            if not quiet:
                notes.append(f"{row} at {threads}")
            lines.append(
                f"| {row}{star} | {threads} | {spread(results.values(row, threads, 'prompt_tok_s'))} | {spread(decode)}"
                f" | {100 * share:.0f} % | {spread(foreign, 2)} |"
            )
    lines += ["", "Speed of libmlxrocm relative to the others, taken within each round:", ""]
    lines += ["| | threads | prefill | decode |", "|---|--:|--:|--:|"]
    for threads in threads_list:
        for row in ROWS[1:]:
            both = [spread(results.ratios(row, threads, k), 2) for k in ("prompt_tok_s", "decode_tok_s")]
            lines.append(f"| ÷ {row} | {threads} | {both[0]} | {both[1]} |")
    bounds = "; ".join(
        f"{t} thread{'s' if t > 1 else ''} {spread(results.read_rate(t), 1)} GB/s, so at most "
        f"{statistics.median(results.read_rate(t)) * 1e9 / weight_bytes:.0f} tokens/s"
        for t in threads_list
    )
    ours = [s for r in results.rounds for s in r if s["row"] == OURS]
    peak = max(s["peak_rss_kib"] for s in ours) / 1024
    kv = max(s["kv_kib"] for s in ours) / 1024
    lines += [
        "",
        f"Read bandwidth over as many bytes, in four streams: {bounds} ({weight_bytes:,} bytes of weights are read for each token). "
        f"libmlxrocm loads the model in {spread([s['load_seconds'] for s in ours], 2)} s; its peak memory is "
        f"{peak:.0f} MiB, the mapped file ({model_bytes / 2**20:.0f} MiB) and the KV cache ({kv:.0f} MiB) included.",
        "ik_llama.cpp: PyPI wheel ik-llama-cpp-python 0.1.5, with flash attention (-fa) and without; llama.cpp: "
        "PyPI source llama-cpp-python 0.3.36, native build. libmlxrocm's times include sampling and text.",
    ]
    if notes:
        lines.append(
            f"\\* The machine was not quiet (others used more than {QUIET} cores) for most samples of: "
            f"{', '.join(notes)}; medians over all samples."
        )
    return "\n".join(lines) + "\n"


def write_report(path, text):
    try:
        with open(path, encoding="utf-8") as file:
            report = file.read()
    except FileNotFoundError:
        report = ""
    if BEGIN not in report or END not in report:
        print(f"{path} has no {BEGIN} … {END}: the table is not written there", file=sys.stderr)
        return
    head, rest = report.split(BEGIN, 1)
    old, rest = rest.split(END, 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{head}{BEGIN}\n{merged(old, text)}{END}{rest}")


def merged(old, text):
    """The blocks of a report, that of the same kind of machine replaced, in the order of their names."""
    blocks = {}
    for block in [*old.split(mark("")[:-4])[1:], *text.split(mark("")[:-4])[1:]]:
        blocks[block.split(" -->", 1)[0]] = block.strip("\n")
    return "\n".join(f"{mark('')[:-4]}{block}\n" for _, block in sorted(blocks.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("model", "ours", "ik-python", "llama-bench", "bandwidth", "report", "json"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", default="1,2")
    args = parser.parse_args()
    cpus = len(os.sched_getaffinity(0))
    threads_list = [t for t in map(int, args.threads.split(",")) if t <= cpus]

    results = Results()
    for number in range(args.rounds):
        samples = []
        results.rounds.append(samples)
        # Every other round backwards: no row always comes after the same one.
        order = [(row, t) for t in threads_list for row in ROWS]
        for row, threads in order if number % 2 == 0 else order[::-1]:
            s = measure(row, threads, args)
            samples.append(s)
            print(
                f"round {number + 1}/{args.rounds}  {row:20} t{threads}  prefill {s['prompt_tok_s']:7.1f}  "
                f"decode {s['decode_tok_s']:6.1f}  others {s['foreign']:.2f}  stolen {s['stolen']:.2f}",
                file=sys.stderr,
            )
        for threads in threads_list:
            # As much as a token reads: a part of it is still in the last cache.
            mib = str(os.path.getsize(args.model) >> 20)
            stdout, foreign, stolen = run([args.bandwidth, str(threads), mib, "25"])
            results.bandwidth.append({**json.loads(stdout), "foreign": foreign, "stolen": stolen})
            print(f"round {number + 1}/{args.rounds}  read bandwidth t{threads}  "
                  f"{results.bandwidth[-1]['median_gb_s']:.1f} GB/s", file=sys.stderr)  # fmt: skip
        # After each round: an interrupted run leaves what it has.
        with open(args.json, "w") as out:
            json.dump({"rounds": results.rounds, "bandwidth": results.bandwidth}, out, indent=1)

    ours = next(s for s in results.rounds[0] if s["row"] == OURS)
    text = table(results, threads_list, ours["weight_bytes"], os.path.getsize(args.model))
    print(text)
    if results.quiet(threads_list) or os.environ.get("BENCH_WRITE"):
        write_report(args.report, text)
    else:
        print("The machine was not quiet: docs/performance.md stays as it is (BENCH_WRITE=1 writes it all the same).")


if __name__ == "__main__":
    main()
