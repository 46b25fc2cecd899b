"""Measure the time from a clean machine to the first score: with pip, uv, and the container image.

    python benchmarks/stopwatch.py [pip] [uv] [image]

Each of them begins with an empty home folder and empty caches, installs crscore from this checkout
with the analyzers for Python, downloads the encoder, and scores the example. `image` builds the
Dockerfile with buildah and needs root. Its base images are made by debootstrap before the time is
taken.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.helpers import images  # noqa: E402

EXAMPLE = ["examples/change.diff", "examples/review.md", "--source-root", "examples/source"]
UV = Path(sys.executable).parent / "uv"


class Stopwatch:
    """Runs and times the steps of one kind of installation, and prints each time."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home, self.total = name, home, 0.0
        kept = re.compile(r"PATH|LANG|(PIP|UV|SSL|REQUESTS)_.*|.*_proxy|.*_PROXY")
        self.environment = {key: value for key, value in os.environ.items() if kept.fullmatch(key)}
        self.environment["HOME"] = str(home)

    def step(self, what: str, *command: str | Path) -> None:
        began = time.perf_counter()
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        self.report(what, time.perf_counter() - began)

    def report(self, what: str, seconds: float) -> None:
        self.total += seconds
        print(f"{self.name:<6} {what:<28} {seconds:6.1f} s", flush=True)


def by_pip(watch: Stopwatch) -> None:
    venv = watch.home / "venv"
    watch.step("python -m venv", sys.executable, "-m", "venv", venv)
    watch.step("pip install .[analyzers]", venv / "bin/pip", "install", f"{ROOT}[analyzers]")
    watch.step("first score, with the encoder", venv / "bin/crscore", *EXAMPLE)


def by_uv(watch: Stopwatch) -> None:
    venv = watch.home / "venv"
    watch.step("uv venv", UV, "venv", "--python", sys.executable, venv)
    python = ["--python", venv / "bin/python"]
    watch.step("uv pip install .[analyzers]", UV, "pip", "install", *python, f"{ROOT}[analyzers]")
    watch.environment["UV"] = str(UV)
    watch.step("first score, with the encoder", venv / "bin/crscore", *EXAMPLE)


def by_image(watch: Stopwatch) -> None:
    store = images.Images(watch.home / "images")
    own = {
        "node": store.add("node", images.node(watch.home / "node")),
        "eclipse-temurin": store.add("java", images.java(watch.home / "java")),
        "python": store.add("python", images.debian(watch.home / "python")),
    }
    named = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    clone = watch.home / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    began = time.perf_counter()
    image = store.build(clone, {one: own[one.partition(":")[0]] for one in named})
    watch.report("steps of the Dockerfile", time.perf_counter() - began)
    began = time.perf_counter()
    entry = store.config(image)["Entrypoint"]
    files = ["/shared/change.diff", "/shared/review.md", "--source-root=/shared/source"]
    store.start(image, *entry, *files, shared=ROOT / "examples")
    watch.report("first score", time.perf_counter() - began)


WAYS = {"pip": by_pip, "uv": by_uv, "image": by_image}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", choices=[[], *WAYS], default=[])
    for name in parser.parse_args().ways or WAYS:
        home = Path(tempfile.mkdtemp(prefix="crscore-stopwatch-"))
        try:
            watch = Stopwatch(name, home)
            WAYS[name](watch)
            print(f"{name:<6} {'clean machine to first score':<28} {watch.total:6.1f} s")
        finally:
            shutil.rmtree(home)


if __name__ == "__main__":
    main()
