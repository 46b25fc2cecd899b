from __future__ import annotations

import shutil
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from crscore.audit import engines
from crscore.audit.engines import run_in_processes, run_on_ray, run_serially
from crscore.audit.score.pull_rows import make_failure, score_task
from crscore.errors import ModelNotFoundError
from tests.helpers.audits import SETTINGS, Audit, die_always, die_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crscore.audit.engines import Engine
    from crscore.audit.score.assemble import ScoringTask
    from crscore.audit.score.pull_rows import Scored
    from crscore.settings import Config

pytestmark = pytest.mark.models
TWO = partial(run_in_processes, workers=2)


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path, pulls=6)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Address of a local cluster of two nodes."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    with pytest.MonkeyPatch.context() as patch:
        # The workers must be able to import the functions of this module.
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[4]))
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        nodes.add_node(num_cpus=1)
        yield nodes.address
        nodes.shutdown()


def run(
    engine: Engine,
    tasks: list[ScoringTask],
    settings: Config = SETTINGS,
    work: Callable[[ScoringTask, Config], Scored] = score_task,
) -> list[Scored]:
    died = partial(make_failure, signature="", reason=engines.WORKER_DIED_REASON)
    return list(engine(tasks, partial(work, settings=settings), died))


def test_two_processes_return_the_same_as_one(audit: Audit) -> None:
    tasks = audit.tasks()
    serial = run(run_serially, tasks)
    assert run(TWO, tasks) == serial
    assert not any(scored.failure for scored in serial)


def test_two_processes_return_the_same_as_one_with_the_model(audit: Audit) -> None:
    settings = replace(SETTINGS, encoder="minilm", threshold=None)
    tasks = audit.tasks(settings)
    serial = run(run_serially, tasks, settings)
    assert run(TWO, tasks, settings) == serial


def test_worker_that_dies_loses_nothing(audit: Audit, tmp_path: Path) -> None:
    settings = replace(SETTINGS, cache_dir=str(tmp_path))
    tasks = audit.tasks()
    results = run(TWO, tasks, settings, die_once)
    assert (tmp_path / "died").exists()
    assert results == run(run_serially, tasks, settings)


def test_task_that_kills_every_worker_is_a_row(audit: Audit) -> None:
    results = run(TWO, audit.tasks(), work=die_always)
    assert [row.failure for row in results] == [None, engines.WORKER_DIED_REASON, *[None] * 4]


def test_missing_model_ends_the_run(audit: Audit, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    settings = replace(SETTINGS, encoder=f"minilm:{empty}", threshold=None)
    tasks = audit.tasks(settings)
    with pytest.raises(ModelNotFoundError):
        run(run_serially, tasks, settings)
    with pytest.raises(ModelNotFoundError):
        run(TWO, tasks, settings)


@pytest.mark.filterwarnings("ignore")
class TestRay:
    def test_two_nodes_return_the_same_as_one_process(self, audit: Audit, cluster: str) -> None:
        tasks = audit.tasks()
        results = run(partial(run_on_ray, workers=1, address=cluster), tasks)
        assert results == run(run_serially, tasks)

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
        results = run(partial(run_on_ray, workers=1, address=cluster), tasks, settings, die_once)
        assert results == run(run_serially, tasks, settings)
        assert (tmp_path / "died").exists()

    def test_task_that_kills_every_worker_is_a_row(self, audit: Audit, cluster: str) -> None:
        results = run(
            partial(run_on_ray, workers=1, address=cluster), audit.tasks(), work=die_always
        )
        failures = [scored.failure for scored in results]
        assert failures == [None, engines.WORKER_DIED_REASON, *[None] * 4]

    def test_missing_model_ends_the_run(self, audit: Audit, cluster: str, tmp_path: Path) -> None:
        empty = tmp_path / "empty"
        empty.mkdir()
        settings = replace(SETTINGS, encoder=f"minilm:{empty}", threshold=None)
        with pytest.raises(ModelNotFoundError):
            run(partial(run_on_ray, workers=1, address=cluster), audit.tasks(settings), settings)
