"""Print the path of a review through the package: which function calls another module's function.

    python benchmarks/stays.py

The path begins at `pipeline.run` and ends at the result; each function is counted once. Calls
inside the plugins (claims, analyzers, encoder, matcher), and calls of `records.py`, `text.py`,
`errors.py` and `progress.py` are left out. A "climb" is a call of a module that already has a
running function further up in the stack.
"""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import crscore
from crscore import Comment, Scorer, pipeline

ROOT = Path(crscore.__file__).parent
LEAVES = {"errors", "progress", "records", "text"}
PARTS = ("claims.", "encoders.", "matchers.", "static_analysis.suite", "syntax.")
PATCH = """--- a/client.py
+++ b/client.py
@@ -1,4 +1,5 @@
 import requests
-def fetch(url):
-    return requests.get(url).json()
+def fetch(url, timeout=None):
+    reply = requests.get(url, timeout=timeout)
+    return reply.json()

"""
COMMENTS = (
    Comment(
        body="Check `reply.status_code` first: an error page is no JSON.\n"
        "```suggestion\n    reply.raise_for_status()\n    return reply.json()\n```",
        path="client.py",
        line=4,
        author="ann",
    ),
    Comment(body="A test of `timeout` is missing.", path="client.py", line=2, outdated=True),
)

Step = tuple[int, str, str]


def module_of(frame: FrameType) -> str | None:
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(ROOT):
        return None
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return None if name in LEAVES else name


def trace() -> tuple[list[Step], list[str]]:
    """Run the pipeline; return the calls as (depth, module, function), and the climbs."""
    scorer = Scorer(analyzers="ruff", offline=True)
    change, older = scorer.read_diff(PATCH), scorer.read_diff(PATCH.replace("timeout", "limit"))
    pairs = [pipeline.ReviewedChange(change, COMMENTS, {1: older})]
    pipeline.run(pairs, scorer.parts)  # loads the models, which is not traced
    steps: list[Step] = []
    climbs: list[str] = []

    def watch(frame: FrameType, event: str, _: Any) -> None:
        module, name = module_of(frame), frame.f_code.co_qualname
        # Private and special functions, lambdas and comprehensions are not counted.
        if event != "call" or module is None or name.rpartition(".")[2][:1] in "_<":
            return
        above: list[str] = []
        caller = frame.f_back
        while caller is not None and above[-1:] != ["pipeline"]:
            if found := module_of(caller):
                above.append(found)
            caller = caller.f_back
        if above[-1:] != ["pipeline"] or above[0] == module:
            return
        if not any(other.startswith(PARTS) for other in above):
            steps.append((len(dict.fromkeys(above)) - 1, module, name))
            if module in above:
                climbs.append(f"{above[0]} -> {module}: {name}")

    sys.setprofile(watch)
    try:
        pipeline.run(pairs, scorer.parts)
    finally:
        sys.setprofile(None)
    return list({step[1:]: step for step in reversed(steps)}.values())[::-1], climbs


def main() -> None:
    steps, climbs = trace()
    for depth, module, name in steps:
        print(f"{'  ' * depth}{module}: {name}")
    called = [module for depth, module, _ in steps if depth == 0]
    again = [module for module, count in Counter(called).items() if count > 1]
    print(f"{len(steps)} functions in {len({module for _, module, _ in steps})} modules; "
          f"{len(called)} of them called by pipeline.py")  # fmt: skip
    print(f"modules of which it calls several functions: {', '.join(again) or 'none'}")
    print(f"{len(climbs)} climbs{''.join(f'; {climb}' for climb in dict.fromkeys(climbs))}")


if __name__ == "__main__":
    main()
