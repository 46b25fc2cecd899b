"""The examples in Python of the documents pass mypy's strict check."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.smoke

DOCUMENTS = ["README.md", "docs/integrations.md", "docs/agents.md"]
# What the examples take for granted.
GIVEN = """
from collections.abc import Iterable
from typing import Any
import pytest
from crscore import Result

result: Result
DIFF: str = ""
diff_text: str = ""
review_text: str = ""
pairs: list[tuple[str, str]] = []
bot_names: Any = None
my_bot: Any = None
samples: Any = None
response: Any = None
"""


def examples(name: str) -> list[str]:
    text = (ROOT / name).read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("examples")
    for name in DOCUMENTS:
        shown = [code for code in examples(name) if "def test_" not in code]
        (folder / f"{Path(name).stem}.py").write_text(GIVEN + "\n".join(shown), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
         *(f"{Path(name).stem}.py" for name in DOCUMENTS)],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("name", DOCUMENTS)
def test_example_passes_strict_types(complaints: str, name: str) -> None:
    of_document = [line for line in complaints.splitlines() if line.startswith(Path(name).stem)]
    assert of_document == []
