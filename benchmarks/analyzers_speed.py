"""Measure the run time of all analyzers on one changed file of 500 lines.

    python benchmarks/analyzers_speed.py [--runs N] [--lines N] [--analyzers NAMES]

The script makes a file of ordinary classes, each with code that analyzers report. The change adds
one class, and the tools read both versions. "Cold" is a run with an empty cache: every tool is
started twice, for its version and for the files. "Warm" repeats the call with a new `Suite`, as in
a new process. `cli_speed.py` measures the start of Python. The load of the machine is printed,
because other work makes every number worse.
"""

from __future__ import annotations

import argparse
import difflib
import os
import statistics
import tempfile
import time
from typing import TYPE_CHECKING, NamedTuple

from crscore import scorer
from crscore.diff import parse
from crscore.records import ToolState
from crscore.settings import Config, override_settings

if TYPE_CHECKING:
    from crscore.records import Analysis, Diff


class Kind(NamedTuple):
    """Language, with the parts of a generated file and the goal of the run time.

    `block` is one class; each `@` in it is replaced by a number.
    """

    name: str
    path: str
    head: str
    block: str
    tail: str
    goal: float
    """Goal of a cold run, in seconds."""


WARM_GOAL = 0.1
"""Goal of a warm run, in seconds."""
PYTHON = Kind(
    "Python",
    "orders/service.py",
    '''"""Orders and what they cost."""

import json
import logging
import subprocess

LOG = logging.getLogger(__name__)
''',
    '''

class Orders@:
    """Orders of one shop."""

    def __init__(self, shop, rate=0.19):
        self.shop = shop
        self.rate = rate
        self.rows = []

    def add(self, name, price, count=1, tags=[]):
        """Add a row."""
        if price < 0 or count < 1:
            raise ValueError(f"cannot order {count} of {name} for {price}")
        self.rows.append((name, price, count, tuple(tags)))
        return len(self.rows)

    def total(self):
        """Sum up, tax included."""
        amount = 0.0
        for name, price, count, tags in self.rows:
            if "free" in tags:
                continue
            amount += price * count
            if "tax" in tags:
                amount += price * count * self.rate
        return round(amount, 2)

    def load(self, path):
        """Read rows of a file."""
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except Exception:
            return 0
        for row in found:
            self.add(row["name"], row["price"], row.get("count", @))
        return len(found)

    def export(self, command):
        """Hand the total to a program."""
        LOG.info("export %s", self.shop)
        done = subprocess.run(f"{command} {self.total()}", shell=True)
        return done.returncode == 0
''',
    "",
    3.0,
)
JAVA = Kind(
    "Java",
    "src/main/java/shop/Orders.java",
    """package shop;

import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Orders {
""",
    """
    static class Part@ {
        private final String shop;
        private final List<Double> prices = new ArrayList<>();
        private final Map<String, Integer> counts = new HashMap<>();
        private int unused@ = 0;

        Part@(String shop) {
            this.shop = shop;
        }

        int add(String name, double price, int count) {
            if (price < 0 || count < 1) {
                throw new IllegalArgumentException("cannot order " + name);
            }
            prices.add(price * count);
            counts.put(name, counts.getOrDefault(name, 0) + count);
            return prices.size();
        }

        double total(double rate) {
            double amount = 0.0;
            for (double price : prices) {
                amount += price;
                if (amount > 1000.0 * @) {
                    amount += price * rate;
                }
            }
            return Math.round(amount * 100.0) / 100.0;
        }

        int load(String path) {
            int sum = 0;
            try {
                FileInputStream input = new FileInputStream(path);
                int next = input.read();
                while (next >= 0) {
                    sum += next;
                    next = input.read();
                }
            } catch (IOException e) {
            }
            return sum;
        }

        boolean isOf(String other) {
            return shop == other;
        }
    }
""",
    "}\n",
    4.0,
)
JAVASCRIPT = Kind(
    "JavaScript",
    "src/orders.js",
    '"use strict";\n\nconst fs = require("fs");\n',
    """
class Orders@ {
  constructor(shop, rate = 0.19) {
    this.shop = shop;
    this.rate = rate;
    this.rows = [];
  }

  add(name, price, count = 1) {
    if (price < 0 || count < 1) {
      throw new Error(`cannot order ${count} of ${name}`);
    }
    this.rows.push({ name, price, count });
    return this.rows.length;
  }

  total() {
    let amount = 0;
    for (const row of this.rows) {
      if (row.name == "free") {
        continue;
      }
      amount += row.price * row.count;
      if (amount > 1000 * @) {
        amount += row.price * this.rate;
      }
    }
    return Math.round(amount * 100) / 100;
  }

  async load(paths) {
    for (const path of paths) {
      const text = await fs.promises.readFile(path, "utf8");
      const rows = JSON.parse(text);
      rows.forEach((row) => this.add(row.name, row.price, row.count));
    }
    return this.rows.length;
  }
}

exports.Orders@ = Orders@;
""",
    "",
    2.0,
)


def make_change(kind: Kind, lines: int) -> Diff:
    """Make a change that adds one class to a file, which then has about `lines` lines."""
    count = max(2, round((lines - kind.head.count("\n")) / kind.block.count("\n")))
    blocks = [kind.block.replace("@", str(number)) for number in range(count)]
    added = count // 2
    old = kind.head + "".join(blocks[:added] + blocks[added + 1 :]) + kind.tail
    new = kind.head + "".join(blocks) + kind.tail
    texts = [text.splitlines(keepends=True) for text in (old, new)]
    patch = "".join(difflib.unified_diff(*texts, f"a/{kind.path}", f"b/{kind.path}"))
    return parse.with_sources(parse.parse_diff(patch), {kind.path: (old, new)})


def analyse(settings: Config, change: Diff) -> tuple[float, Analysis]:
    """Analyse a change with a new `Suite`; return the seconds and the analysis."""
    start = time.perf_counter()
    with scorer.make_analyzers(settings).analyzing([change]) as wait:
        (analysis,) = wait()
    return time.perf_counter() - start, analysis


def main() -> None:
    """Measure each language and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--analyzers", default="auto")
    parser.add_argument("--tools-dir")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(
        "language    lines  findings  in change  cold: min  median  goal  warm: min  median  goal"
    )
    for kind in (PYTHON, JAVA, JAVASCRIPT):
        change = make_change(kind, arguments.lines)
        cold, warm = [], []
        for _ in range(arguments.runs):
            with tempfile.TemporaryDirectory() as folder:
                settings = override_settings(
                    Config(),
                    {
                        "analyzers": arguments.analyzers,
                        "cache_dir": folder,
                        "tools_dir": arguments.tools_dir,
                    },
                )
                seconds, analysis = analyse(settings, change)
                cold.append(seconds)
                warm.append(analyse(settings, change)[0])
        new = (change.files[0].new_source or "").count("\n")
        counted = sum(finding.in_change for finding in analysis.findings)
        print(
            f"{kind.name:10}  {new:5}  {len(analysis.findings):8}  {counted:9}  {min(cold):9.2f}  "
            f"{statistics.median(cold):6.2f}  {kind.goal:4.1f}  {min(warm):9.3f}  "
            f"{statistics.median(warm):6.3f}  {WARM_GOAL:4.1f}",
            flush=True,
        )
        for run in analysis.tools:
            why = "" if run.state is ToolState.RAN else f": {run.state}, {run.reason}"
            print(f"            {run.tool} {run.version}{why}")


if __name__ == "__main__":
    main()
