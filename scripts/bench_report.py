#!/usr/bin/env python3
"""Makes the table and the plots of scripts/bench.sh from its JSON lines.

SPDX-License-Identifier: BSL-1.0

Use: bench_report.py [--check] [--parts "regions graphs"] RAW.jsonl OUT_DIR

A line is {"round": 1, "from": PROGRAM, "name": FIGURE, "value": 1.5, "unit": "ns/op"}. Values of one figure
and one program are summed up by their median over the rounds, counts (heap calls, bytes) by their largest:
a count that should be zero must be zero in every one. LLVM's best is its setting with the smallest median,
defaults included.
"""
import argparse
import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

LLVM_SETTINGS = {
    "default": "defaults",
    "no_helpers": "helpers off",
    "one_thread": "helpers off, one thread",
    "one_helper": "one active helper",
}

# our figure, LLVM's figure, bar on the ratio to its defaults, bar on the ratio to its best
RATIOS = [
    ("resident_inline", "resident_sync", None, 0.15),
    ("resident_inline_io", "resident_sync", None, None),
    ("resident_blocking", "resident_sync", None, None),
    ("resident_await", "resident_sync", None, 0.90),
    ("resident_await_io", "resident_sync", None, None),
    ("resident_concurrent", "resident_nowait", 0.05, 0.30),
    ("resident_concurrent.cpu", "resident_nowait.cpu", 0.06, None),
    ("resident_concurrent_io", "resident_nowait", None, None),
    ("inflight_100k", "resident_nowait", None, None),
    ("chain_queue", "chain_nowait", 0.04, 0.25),
    ("chain_depend", "chain_nowait", 0.06, 0.40),
    ("mapped_await", "mapped_sync", None, 0.30),
    ("mapped_concurrent", "mapped_nowait_depend", None, None),
    ("mapped_concurrent_depend", "mapped_nowait_depend", 0.07, 0.35),
    ("enter_exit_4k", "enter_exit_4k", None, 0.40),
    ("update_4k", "update_4k", None, 0.45),
]

# program, figure, bar on the value itself
VALUES = [
    ("omp_co", "resident_inline.allocs", 0),
    ("omp_co", "resident_await.allocs", 0),
    ("omp_co", "resident_concurrent.allocs", 0),
    ("omp_co", "resident_inline_io.allocs", 0.05),
    ("omp_co", "resident_await_io.allocs", 0.05),
    ("omp_co", "resident_concurrent_io.allocs", 0.05),
    ("omp_co", "mapped_await.allocs", None),
    ("omp_co", "mapped_concurrent.allocs", None),
    ("omp_co", "mapped_concurrent_depend.allocs", None),
    ("omp_co", "chain_queue.allocs", None),
    ("omp_co", "chain_depend.allocs", None),
    ("omp_co", "enter_exit_4k.allocs", None),
    ("omp_co", "update_4k.allocs", None),
    ("omp_co", "inflight_100k.bytes", 512),
    ("omp_co", "inflight_100k.first", None),
    ("mapped_ranges", "look_up_100", None),
    ("mapped_ranges", "look_up_100k", None),
    ("mapped_ranges", "look_up_100k.any", None),
    ("mapped_ranges", "look_up_ratio", 3),
    ("mapped_ranges", "region_among_100", None),
    ("mapped_ranges", "region_among_100k", None),
    ("mapped_ranges", "region_among_100k.any", None),
    ("mapped_ranges", "region_among_ratio", 3),
    ("triad", "triad_threads", None),
    ("triad", "triad_range", None),
    ("triad", "triad_openmp", None),
    ("triad", "triad_ratio", 1.05),
    ("triad", "triad_ratio.best", None),
    ("idle", "idle_cpu_offload", 2),
    ("idle", "idle_cpu_io", 2),
    ("idle", "late_offload.p50", None),
    ("idle", "late_offload.p99", None),
    ("idle", "late_offload.max", None),
    ("idle", "late_io.p50", None),
    ("idle", "late_io.p99", None),
    ("idle", "late_io.max", None),
]

GRAPHS = ["trivial", "chain", "stencil", "tree", "fft", "all_to_all", "random_nearest"]

# figure of a graph, what it is, and the bars on its ratio to LLVM's defaults
GRAPH_FIGURES = [
    ("empty", "ns a task, empty kernels", {}),
    ("metg50", "kernel time in us for half efficiency", {"stencil": 0.20}),
]

# column, program
GRAPH_PROGRAMS = [
    ("omp_co", "omp_co"),
    ("by handlers", "omp_co.handlers"),
    ("OpenMP", "openmp"),
    ("oneTBB", "tbb"),
    ("LLVM", "llvm.default"),
]
RANDOM_GRAPHS = 1000


class Figures:
    def __init__(self, lines):
        samples = defaultdict(list)
        self.units = {}
        self.rounds = 0
        for line in lines:
            record = json.loads(line)
            samples[record["from"], record["name"]].append(record["value"])
            self.units[record["name"]] = record["unit"]
            self.rounds = max(self.rounds, record["round"])
        self.values = {key: self.summary(key[1], values) for key, values in samples.items()}
        self.busy = samples.get(("machine", "busy"), [])

    @staticmethod
    def summary(name, values):
        counted = name.endswith((".allocs", ".bytes"))
        return max(values) if counted else statistics.median(values)

    def get(self, program, name):
        return self.values.get((program, name))

    def llvm_best(self, name):
        """The smallest median and its setting, or (None, None)."""
        found = [(self.get(f"llvm.{setting}", name), setting) for setting in LLVM_SETTINGS]
        found = [pair for pair in found if pair[0] is not None]
        return min(found, default=(None, None))


class Verdict:
    """One bar: what was measured, what is allowed."""

    def __init__(self, label, value, bar, missing):
        self.label, self.value, self.bar = label, value, bar
        self.missing = missing  # what to say when there is no value

    def missed(self):
        return self.bar is not None and self.value is not None and self.value > self.bar

    def mark(self):
        if self.bar is None:
            return ""
        if self.value is None:
            return self.missing
        return "MISSED" if self.missed() else "ok"


def number(value):
    if value is None:
        return "-"
    if value >= 1000 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def table(header, rows):
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        yield "  ".join(cells).rstrip()


def ratio(ours, theirs):
    return None if ours is None or not theirs else ours / theirs


def compare_with_llvm(figures, verdicts):
    rows = []
    for name, peer, default_bar, best_bar in RATIOS:
        ours = figures.get("omp_co", name)
        default = figures.get("llvm.default", peer)
        best, setting = figures.llvm_best(peer)
        missing = "not measured" if ours is None else "no peer"
        to_default = Verdict(f"{name} / default", ratio(ours, default), default_bar, missing)
        to_best = Verdict(f"{name} / best", ratio(ours, best), best_bar, missing)
        verdicts += [to_default, to_best]
        row = [name, number(ours), peer]
        for theirs, verdict in ((default, to_default), (best, to_best)):
            bar = "" if verdict.bar is None else f"<= {verdict.bar:g}"
            row += [number(theirs), number(verdict.value), bar, verdict.mark()]
        rows.append([*row, LLVM_SETTINGS.get(setting, "")])
    header = ["ns an op", "omp_co", "LLVM's", "default", "ratio", "bar", "", "best", "ratio", "bar", ""]
    return table([*header, "best with"], rows)


def plain_values(figures, verdicts):
    rows = []
    for program, name, bar in VALUES:
        value = figures.get(program, name)
        missing = "no peer" if name.startswith("triad_ratio") else "not measured"
        verdict = Verdict(name, value, bar, missing)
        verdicts.append(verdict)
        limit = "" if bar is None else f"<= {bar:g}"
        rows.append([name, number(value), figures.units.get(name, ""), limit, verdict.mark()])
    return table(["figure", "value", "unit", "bar", ""], rows)


def graph_values(figures, verdicts):
    for figure, words, bars in GRAPH_FIGURES:
        rows = []
        for graph in GRAPHS:
            name = f"{graph}.{figure}"
            values = [figures.get(program, name) for _, program in GRAPH_PROGRAMS]
            ours, default = values[0], values[-1]
            missing = "not measured" if ours is None else "no peer"
            verdict = Verdict(f"{name} / default", ratio(ours, default), bars.get(graph), missing)
            verdicts.append(verdict)
            best, setting = figures.llvm_best(name)
            bar = "" if verdict.bar is None else f"<= {verdict.bar:g}"
            row = [graph, *map(number, values), number(verdict.value), bar, verdict.mark()]
            rows.append([*row, number(best), number(ratio(ours, best)), LLVM_SETTINGS.get(setting, "")])
        header = [words, *(column for column, _ in GRAPH_PROGRAMS), "ratio", "bar", "", "best", "ratio", "best with"]
        yield from table(header, rows)
        yield ""
    checked = figures.get("omp_co", "random_graphs")
    verdicts.append(Verdict("random graphs left out", None if checked is None else RANDOM_GRAPHS - checked, 0, "not measured"))
    yield f"Random graphs equal to a serial run: {number(checked)} of {RANDOM_GRAPHS}."


def write_plots(figures, verdicts, out):
    def quoted(text):
        return '"' + text.replace("_", " ") + '"'

    rows = []
    for name, peer, _, _ in RATIOS:
        if name.endswith(".cpu"):
            continue
        values = (figures.get("omp_co", name), figures.get("llvm.default", peer), figures.llvm_best(peer)[0])
        rows.append(" ".join([quoted(name), *("?" if v is None else f"{v:g}" for v in values)]))
    (out / "costs.dat").write_text("\n".join(rows) + "\n")

    # A bar of zero has no share: it is met or missed.
    measured = [v for v in verdicts if v.bar and v.value is not None]
    (out / "bars.dat").write_text("".join(f"{quoted(v.label)} {v.value / v.bar:g}\n" for v in measured))
    (out / "plots.gp").write_text(PLOTS)


PLOTS = """\
set terminal svg size 1000,560 font "sans,13" background "white"
set datafile missing "?"
set style data histograms
set style fill solid 0.8 noborder
set grid ytics
set xtics rotate by -35 scale 0

set output "costs.svg"
set title "Cost of an operation"
set ylabel "ns"
set logscale y
set yrange [10:*]
set style histogram clustered gap 1
set key outside top center horizontal
plot "costs.dat" using 2:xtic(1) title "omp\\\\_co", "" using 3 title "LLVM, defaults", \\
    "" using 4 title "LLVM, best setting"

set output "bars.svg"
set title "Figures as a share of their bar (up to 1 is met, cut at 2)"
set ylabel "share"
unset logscale y
set yrange [0:2]
set boxwidth 0.7
plot "bars.dat" using ($2 > 2 ? 2 : $2):xtic(1) notitle, 1 with lines linewidth 2 linecolor "red" notitle
"""


def main():
    parser = argparse.ArgumentParser(description="Table and plots of scripts/bench.sh.")
    parser.add_argument("--check", action="store_true", help="exit 1 when a bar is missed or not measured")
    parser.add_argument("--parts", type=str.split, default=["regions", "graphs"], help="what was measured")
    parser.add_argument("raw", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()

    figures = Figures(options.raw.read_text().splitlines())
    verdicts = []
    text = [f"Medians of {figures.rounds} round(s)."]
    if "regions" in options.parts:
        text += ["", *compare_with_llvm(figures, verdicts), "", *plain_values(figures, verdicts)]
    if "graphs" in options.parts:
        text += ["", *graph_values(figures, verdicts)]
    noisy = sum(1 for percent in figures.busy if percent > 10)
    if noisy:
        text += ["", f"{noisy} of {figures.rounds} round(s) began on a busy machine: distrust the ratios."]
    missed = [v for v in verdicts if v.missed()]
    unmeasured = [v for v in verdicts if v.mark() == "not measured"]
    for label, group in (("Missed", missed), ("Not measured", unmeasured)):
        if group:
            text += ["", f"{label}: " + ", ".join(v.label for v in group)]
    print("\n".join(text))
    (options.out / "table.txt").write_text("\n".join(text) + "\n")
    write_plots(figures, verdicts, options.out)
    return 1 if options.check and (missed or unmeasured) else 0


if __name__ == "__main__":
    sys.exit(main())
