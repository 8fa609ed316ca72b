#!/usr/bin/env python3
"""Draws the results of tern_bench as SVG, one picture a family of workloads, and prints them as a Markdown table.

Usage: plot.py RESULTS.json FOLDER   writes FOLDER/benchmarks_<family>.svg (of a GPU benchmarks_cuda_<family>.svg)
       plot.py --table RESULTS.json  prints the table of docs/benchmarks.md
"""
import json
import sys
from html import escape
from pathlib import Path

COLOURS = {"tern": "#1b6ca8", "oneDNN": "#e08e0b", "OpenBLAS": "#5a9e4b", "Eigen": "#9a6fb0", "by-hand": "#7a7a7a",
           "PyTorch": "#c8503c",
           "torch.compile": "#7d3024", "CUDA graph": "#c8503c", "CUDA graph, compiled": "#7d3024",
           "tern, product": "#9fc3dd",
           "PyTorch, product": "#e7b3a8"}
TITLES = {"matmul": "Matrix products", "linear": "Fused linear layers", "gated": "Gated activations",
          "rows": "Reductions and softmax", "swiglu": "Feed-forward block (SwiGLU)", "step": "Training step",
           "overhead": "Overhead of an operation"}
WIDTH, LABELS, BAR, GAP, TOP = 900, 330, 13, 9, 64
UNIT = 330  # pixels for the speed of the fastest peer


def shown(entry, figures):
    if "rate" in figures:
        return f"{figures['rate']:.3g} {entry['unit']}"
    seconds = figures["median"]
    return f"{seconds * 1e6:.3g} µs" if seconds >= 1e-6 else f"{seconds * 1e9:.0f} ns"


def best_peer(entry):
    """Seconds of the fastest peer; of tern, where it is alone."""
    peers = [f["median"] for f in entry["libraries"] if f["library"] != "tern" and not f.get("part")]
    return min(peers or [entry["libraries"][0]["median"]])


def legend(libraries):
    parts, x = [], LABELS
    for library in libraries:
        parts.append(f'<rect x="{x}" y="38" width="11" height="11" fill="{COLOURS.get(library, "#888")}"/>'
                     f'<text x="{x + 16}" y="48">{escape(library)}</text>')
        x += 30 + 8 * len(library)
    return parts


def draw(family, entries, machine, date):
    libraries = [x for x in COLOURS if any(x == f["library"] for e in entries for f in e["libraries"])]
    parts, y = [], TOP
    for entry in entries:
        height = BAR * len(entry["libraries"])
        parts.append(f'<text x="{LABELS - 8}" y="{y + height / 2 + 4}" text-anchor="end">'
                     f'{escape(entry["workload"])}</text>')
        for figures in entry["libraries"]:
            speed = best_peer(entry) / figures["median"]
            length = min(speed, 1.3) * UNIT
            more = f" ({speed:.1f} times)" if speed > 1.3 else ""
            parts.append(f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR - 2}" '
                         f'fill="{COLOURS.get(figures["library"], "#888")}"/>'
                         f'<text x="{LABELS + length + 5:.1f}" y="{y + BAR - 3}" font-size="10">'
                         f'{escape(shown(entry, figures))}{more}</text>')
            y += BAR
        y += GAP
    line = LABELS + UNIT
    parts.append(f'<line x1="{line}" y1="{TOP - 6}" x2="{line}" y2="{y}" stroke="#444" stroke-dasharray="3 3"/>')
    title = f"{TITLES.get(family, family)}: speed, the fastest peer = dashed line"
    below = machine.get("device") or f"{machine['processor']}, {machine['threads']} threads, {machine['clock']} time"
    below += f", {date[:10]}"
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 24}" '
                      'font-family="sans-serif" font-size="12" fill="#222">',
                      '<rect width="100%" height="100%" fill="#fff"/>',
                      f'<text x="12" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
                       *legend(libraries),
                      *parts, f'<text x="12" y="{y + 14}" font-size="10" fill="#666">{escape(below)}</text>',
                       "</svg>\n"])


def table(results):
    print("| workload | tern | of roof | best peer | its speed | tern over it (quartiles) | over PyTorch |\n"
          "|---|---|---|---|---|---|---|")
    for entry in results:
        tern = next((f for f in entry["libraries"] if f["library"] == "tern"), None)
        if tern is None:
            continue
        roof = f"{100 * tern['share_of_roof']:.0f} %" if "share_of_roof" in tern else ""
        cells = [entry["workload"], shown(entry, tern), roof]
        if best := entry.get("best_peer"):
            peer = next(f for f in entry["libraries"] if f["library"] == best["library"])
            low, high = best["quartiles"]
            cells += [best["library"], shown(entry, peer), f"**{best['ratio']:.2f}** ({low:.2f} to {high:.2f})"]
        else:
            cells += ["", "", ""]
        torch = next((f for f in entry["libraries"] if f["library"] == "PyTorch"), None)
        cells.append(f"{torch['median'] / tern['median']:.2f}" if torch else "")
        print("| " + " | ".join(cells) + " |")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    document = json.loads(Path(sys.argv[2 if sys.argv[1] == "--table" else 1]).read_text())
    results = [e for e in document["results"] if e["libraries"]]
    if sys.argv[1] == "--table":
        return table(results)
    families = {}
    for entry in results:
        families.setdefault(entry["workload"].split("/")[0], []).append(entry)
    device = document["machine"].get("device", "")
    kind = "webgpu_" if "webgpu" in device else "cuda_" if device else ""
    for family, entries in families.items():
        file = Path(sys.argv[2]) / f"benchmarks_{kind}{family}.svg"
        file.write_text(draw(family, entries, document["machine"], document["date"]))
        print(f"wrote {file}")


main()
