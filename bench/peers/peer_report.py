# SPDX-License-Identifier: MIT
"""The table on stdout, and what the JSON file says about machine and versions."""
import os
import platform
import statistics
import subprocess

MODES = ("one", "batch")


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.split(": ", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit(root):
    """Of this repository, "-dirty" where files were changed."""
    try:
        result = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"],
                                capture_output=True, text=True, check=False)
    except OSError:
        return "not known"
    return result.stdout.strip() or "not known"


def machine(cpu):
    return {"cpu_model": cpu_model(), "architecture": platform.machine(), "cpu_count": os.cpu_count(),
            "pinned_to": cpu}


def qps(run, clock):
    return run["queries"] / run[f"{clock}_seconds"]


def _qps_text(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def add_medians(rows, clock):
    for row in rows:
        if "error" not in row:
            row["qps"] = {mode: statistics.median(qps(run, clock) for run in row["runs"][mode])
                          for mode in MODES}


def ratios(rows):
    """Ours over each rival of the same nominal bits."""
    measured = [row for row in rows if "error" not in row and row["bits"] is not None]
    result = []
    for ours in (row for row in measured if row["is_ours"]):
        for rival in measured:
            if rival["is_ours"] or rival["bits"] != ours["bits"]:
                continue
            result.append({"ours": ours["name"], "rival": rival["name"],
                           "recall_difference": ours["recall"] - rival["recall"],
                           "bytes": ours["bytes_per_vector"] / rival["bytes_per_vector"],
                           **{mode: ours["qps"][mode] / rival["qps"][mode] for mode in MODES}})
    return result


def _print_columns(lines):
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        print("  ".join(cells).rstrip())


def print_table(rows, k):
    lines = [("index", "bits", "bytes/vec", f"recall@{k}", "qps one", "qps batch", "build s")]
    for row in rows:
        if "error" in row:
            continue
        bits = "" if row["bits"] is None else f"{row['bits']:g}"
        lines.append((row["name"], bits, f"{row['bytes_per_vector']:.1f}", f"{row['recall']:.4f}",
                      _qps_text(row["qps"]["one"]), _qps_text(row["qps"]["batch"]),
                      f"{row['build_seconds']:.1f}"))
    _print_columns(lines)
    for row in rows:
        if "error" in row:
            print(f"{row['name']}: not measured: {row['error']}")
        elif row["recall_one_difference"] != 0:
            print(f"{row['name']}: recall@{k} of single queries differs by "
                  f"{row['recall_one_difference']:+.4f}")


def print_ratios(comparisons, k):
    if not comparisons:
        return
    print("\nours over a rival of the same bits")
    lines = [("ours", "rival", "bytes", f"recall@{k}", "qps one", "qps batch")]
    for entry in comparisons:
        lines.append((entry["ours"], entry["rival"], f"{entry['bytes']:.2f}",
                      f"{entry['recall_difference']:+.4f}", f"{entry['one']:.3g}",
                      f"{entry['batch']:.3g}"))
    _print_columns(lines)
