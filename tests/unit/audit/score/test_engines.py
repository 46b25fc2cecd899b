from __future__ import annotations

import shutil
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crscore.audit.score import engines
from crscore.audit.score.engines import Processes, Ray, Serial
from crscore.errors import ModelNotFoundError
from tests.helpers.audits import SETTINGS, Audit, die_always, die_once

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path, pulls=6)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Address of a local cluster of two nodes."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        # Workers import the functions of the tests.
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        nodes.add_node(num_cpus=1)
        yield nodes.address
        nodes.shutdown()


def test_two_processes_give_what_one_gives(audit: Audit) -> None:
    tasks = audit.tasks()
    serial = list(Serial(settings=SETTINGS).run(tasks))
    assert list(Processes(settings=SETTINGS, workers=2).run(tasks)) == serial
    assert not any(scored.failure for scored in serial)


def test_two_processes_give_what_one_gives_with_the_model(audit: Audit) -> None:
    settings = replace(SETTINGS, encoder="minilm", threshold=None)
    tasks = audit.tasks(settings)
    serial = list(Serial(settings=settings).run(tasks))
    assert list(Processes(settings=settings, workers=2).run(tasks)) == serial


def test_worker_that_dies_loses_nothing(audit: Audit, tmp_path: Path) -> None:
    settings = replace(SETTINGS, cache_dir=str(tmp_path))
    tasks = audit.tasks()
    results = list(Processes(settings=settings, workers=2, work=die_once).run(tasks))
    assert (tmp_path / "died").exists()
    assert results == list(Serial(settings=settings).run(tasks))


def test_task_that_kills_every_worker_is_a_row(audit: Audit) -> None:
    results = list(Processes(settings=SETTINGS, workers=2, work=die_always).run(audit.tasks()))
    assert [row.failure for row in results] == [None, engines.DIED, *[None] * 4]


def test_missing_model_ends_the_run(audit: Audit, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    settings = replace(SETTINGS, encoder=f"minilm:{empty}", threshold=None)
    tasks = audit.tasks(settings)
    with pytest.raises(ModelNotFoundError):
        list(Serial(settings=settings).run(tasks))
    with pytest.raises(ModelNotFoundError):
        list(Processes(settings=settings, workers=2).run(tasks))


@pytest.mark.filterwarnings("ignore")
class TestRay:
    def test_two_nodes_give_what_one_process_gives(self, audit: Audit, cluster: str) -> None:
        tasks = audit.tasks()
        results = list(Ray(settings=SETTINGS, workers=1, address=cluster).run(tasks))
        assert results == list(Serial(settings=SETTINGS).run(tasks))

    def test_store_is_that_of_one_process(self, tmp_path: Path, cluster: str) -> None:
        one, other = tmp_path / "one", tmp_path / "other"
        one.mkdir()
        first = Audit(one, pulls=4)
        shutil.copytree(one, other)
        second = copy(first)
        second.folder = other
        first.score()
        second.score(engine=f"ray:{cluster}")
        assert second.tables() == first.tables()

    def test_worker_that_dies_loses_nothing(
        self, audit: Audit, cluster: str, tmp_path: Path
    ) -> None:
        settings = replace(SETTINGS, cache_dir=str(tmp_path))
        tasks = audit.tasks()
        engine = Ray(settings=settings, workers=1, address=cluster, work=die_once)
        assert list(engine.run(tasks)) == list(Serial(settings=settings).run(tasks))
        assert (tmp_path / "died").exists()

    def test_task_that_kills_every_worker_is_a_row(self, audit: Audit, cluster: str) -> None:
        engine = Ray(settings=SETTINGS, workers=1, address=cluster, work=die_always)
        failures = [scored.failure for scored in engine.run(audit.tasks())]
        assert failures == [None, engines.DIED, *[None] * 4]

    def test_missing_model_ends_the_run(self, audit: Audit, cluster: str, tmp_path: Path) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        settings = replace(SETTINGS, encoder=f"minilm:{empty}", threshold=None)
        with pytest.raises(ModelNotFoundError):
            list(Ray(settings=settings, workers=1, address=cluster).run(audit.tasks(settings)))
