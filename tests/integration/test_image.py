"""The image, built by the Dockerfile's own steps, and its entry point."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers import images

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.hosts

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[images.Images]:
    folder = tmp_path_factory.mktemp("images")
    yield images.Images(folder)
    shutil.rmtree(folder)  # two gigabytes


@pytest.fixture(scope="module")
def image(store: images.Images, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The image, from the files of a clone."""
    folder = tmp_path_factory.mktemp("machines")
    own = {
        "node": store.add("node", images.node(folder / "node")),
        "eclipse-temurin": store.add("java", images.java(folder / "java")),
        "python": store.add("python", images.debian(folder / "python")),
    }
    shutil.rmtree(folder)
    context = tmp_path_factory.mktemp("clone")
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True, text=True,
    )  # fmt: skip
    for name in filter(None, tracked.stdout.split("\0")):
        if (ROOT / name).is_file():
            (context / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, context / name)
    named = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)
    return store.build(context, {one: own[one.partition(":")[0]] for one in named})


def test_entry_point_scores_the_example_with_every_analyzer(
    store: images.Images, image: str
) -> None:
    config = store.config(image)
    assert config["User"] == "1001"
    out = store.start(
        image,
        *config["Entrypoint"],
        "/shared/change.diff",
        "/shared/review.md",
        "--source-root=/shared/source",
        "--format=json",
        "--offline",
        shared=ROOT / "examples",
    )
    result = json.loads(out)
    assert result["scores"]["relevance"] > 0
    assert {tool["state"] for tool in result["analysis"]["tools"]} == {"ran"}
    assert {tool["tool"] for tool in result["analysis"]["tools"]} >= {"jshint", "pmd", "pyscent"}
