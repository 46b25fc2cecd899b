"""Evaluation harnesses run their own programs: inspect_ai on its mock model, promptfoo from npm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]
DIFF = (ROOT / "examples" / "change.diff").read_text("utf-8")
REVIEW = (ROOT / "examples" / "review.md").read_text("utf-8")
# `make nightly-hosts` installs it.
PROMPTFOO = Path(sys.prefix) / "promptfoo" / "node_modules" / ".bin" / "promptfoo"

INSPECT = """
import json, math, sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from crscore.agents.inspect_scorers import review
diff, text, folder = sys.argv[1:]
outputs = [ModelOutput.from_content("mockllm/model", answer) for answer in (text, "...", "Fine.")]
for output in outputs:
    output.usage = ModelUsage()  # otherwise inspect_ai downloads a tokenizer to count
samples = [Sample(input=diff), Sample(input="Review.", metadata={"diff": diff}), Sample(input=diff)]
log = eval(
    Task(dataset=samples, scorer=[review(), review("relevance")]),
    model=get_model("mockllm/model", custom_outputs=outputs),
    log_dir=folder, display="none", max_samples=1, max_connections=1,
)[0]
assert log.status == "success", log.error
print(json.dumps({
    score.name: {
        "unscored": score.unscored_samples,
        "mean": score.metrics["mean"].value,
        "values": [
            None if math.isnan(sample.scores[score.name].value) else sample.scores[score.name].value
            for sample in log.samples
        ],
    }
    for score in log.results.scores
}))
"""

PROVIDER = """
const fs = require('fs');
module.exports = class {
  id() { return 'canned'; }
  async callApi(prompt) { return { output: fs.readFileSync(prompt.trim(), 'utf8') }; }
};
"""


def test_inspect_ai_scores_the_reviews_of_its_mock_model(tmp_path: Path) -> None:
    # In a folder and a process of its own: what it brings opens a socket when other packages are
    # imported, and it warns of its own packages, which is an error here.
    packages = tmp_path / "packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", packages]
    subprocess.run([*pip, "inspect-ai>=0.3.285,<0.4"], check=True)
    done = subprocess.run(
        [sys.executable, "-c", INSPECT, DIFF, REVIEW, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": f"{packages}{os.pathsep}{ROOT}"},
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    scores = json.loads(done.stdout.splitlines()[-1])
    useful, relevance = scores.values()
    assert useful["values"][0] > 0.8 > 0.2 > useful["values"][2]
    assert useful["values"][1] is None
    assert useful["mean"] == pytest.approx((useful["values"][0] + useful["values"][2]) / 2)
    assert relevance["unscored"] == 1


def test_promptfoo_runs_the_assertion(tmp_path: Path) -> None:
    (tmp_path / "provider.js").write_text(PROVIDER)
    (tmp_path / "good.md").write_text(REVIEW)
    (tmp_path / "bad.md").write_text("Looks good to me.")
    config = {
        "prompts": ["{{review}}"],
        "providers": ["file://provider.js"],
        "defaultTest": {
            "assert": [
                {
                    "type": "python",
                    "value": f"file://{ROOT / 'examples' / 'promptfoo_assert.py'}",
                    "config": {"threshold": 0.3},
                }
            ]
        },
        "tests": [
            {"vars": {"review": str(tmp_path / name), "diff": DIFF}}
            for name in ("good.md", "bad.md")
        ],
    }
    (tmp_path / "promptfooconfig.json").write_text(json.dumps(config))
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config"),
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_DISABLE_UPDATE": "1",
        "PROMPTFOO_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
    }
    subprocess.run(
        [str(PROMPTFOO), "eval", "-c", "promptfooconfig.json", "-o", "out.json", "--no-cache"],
        cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    results = json.loads((tmp_path / "out.json").read_text("utf-8"))["results"]["results"]
    assert [result["success"] for result in results] == [True, False]
    grades = [result["gradingResult"]["componentResults"][0] for result in results]
    assert grades[0]["score"] > 0.8
    assert "crscore.usefulness" in grades[1]["reason"]
