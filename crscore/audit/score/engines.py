"""Engines that score many pull requests: in this process, in worker processes, or on Ray.

Results are in the order of the tasks. When a worker dies, its task is tried again, so that the
scores equal those of a single process.
"""

import importlib
import logging
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Final, Protocol

from crscore.audit.score import work
from crscore.audit.score.assemble import Task
from crscore.audit.score.work import Scored
from crscore.errors import ConfigError, DependencyError
from crscore.settings import Config

Work = Callable[[Task, Config], Scored]

ATTEMPTS: Final = 3
"""Number of workers that may die on a task before it counts as failed."""
MAX_TASKS_PER_WORKER: Final = 4
"""Maximum number of unfinished tasks per worker, to limit memory."""
DIED: Final = f"its worker process died {ATTEMPTS} times"


class Engine(Protocol):
    """Way to score many tasks."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Scored]:
        """Score tasks.

        Args:
            tasks: Any number; read when needed, in the caller's thread.

        Returns:
            One result a task, in their order.

        Raises:
            CRScoreError: No task can be scored.
        """
        ...


def make_engine(name: str, workers: int, settings: Config) -> Engine:
    """Make an engine.

    Args:
        name: `processes`, or `ray[:ADDRESS]`.
        workers: Worker processes; 1 for this process. On Ray, the cores of the cluster that is
            started without an address.
        settings: Settings of the scorer.

    Raises:
        ConfigError: The engine is unknown, or there is no worker.
    """
    if workers < 1:
        raise ConfigError("workers", "settings", "expected at least 1")
    kind, _, address = name.partition(":")
    if kind == "ray":
        return Ray(settings=settings, workers=workers, address=address or None)
    if name != "processes":
        raise ConfigError("engine", "settings", f"is {name!r}; expected processes or ray[:ADDRESS]")
    if workers == 1:
        return Serial(settings=settings)
    return Processes(settings=settings, workers=workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serial:
    """This process."""

    settings: Config
    work: Work = work.score_task

    def run(self, tasks: Iterable[Task]) -> Iterator[Scored]:
        """Score tasks; see `Engine.run`."""
        return (self.work(task, self.settings) for task in tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """Worker processes of this machine."""

    settings: Config
    workers: int
    work: Work = work.score_task

    def run(self, tasks: Iterable[Task]) -> Iterator[Scored]:
        """Score tasks; see `Engine.run`."""
        # One process per pool, so that a broken pool identifies the task that broke it.
        pools: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()
        for _ in range(self.workers):
            pools.put(_single_process_pool())
        # Threads only wait for their process; at most one task is on each process.
        threads = ThreadPoolExecutor(self.workers)
        try:
            yield from _in_order(
                tasks,
                submit=lambda task: threads.submit(self._score, task, pools),
                result=lambda future: future.result(),
                limit=self.workers * MAX_TASKS_PER_WORKER,
            )
        finally:
            # Tasks that have not begun are dropped when the caller stops early.
            threads.shutdown(cancel_futures=True)
            for _ in range(self.workers):
                pools.get().shutdown()

    def _score(self, task: Task, pools: SimpleQueue[ProcessPoolExecutor]) -> Scored:
        pool = pools.get()
        try:
            for _ in range(ATTEMPTS):
                try:
                    return pool.submit(self.work, task, self.settings).result()
                except BrokenProcessPool:
                    pool.shutdown()
                    pool = _single_process_pool()
        finally:
            pools.put(pool)
        return _failed_task(task, self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ray:
    """Ray cluster. Its machines need the clones under the same paths, on a shared file system."""

    settings: Config
    workers: int
    """Cores of the cluster that is started when there is no address."""
    address: str | None = None
    """Address of a cluster; None to start one on this machine."""
    work: Work = work.score_task

    def run(self, tasks: Iterable[Task]) -> Iterator[Scored]:
        """Score tasks; see `Engine.run`."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # otherwise Ray reports to its makers
        try:
            ray: Any = importlib.import_module("ray")
        except ImportError as exc:
            raise DependencyError("ray", "pip install 'crscore[ray]'") from exc
        cluster: dict[str, Any] = {"num_cpus": self.workers}
        if self.address:
            cluster = {"address": self.address}
        try:
            ray.init(**cluster, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError) as exc:
            cluster_name = self.address or "this machine"
            raise ConfigError("engine", "settings", f"no Ray at {cluster_name}: {exc}") from exc
        try:
            cores = int(ray.cluster_resources().get("CPU", 1))
            # Ray itself repeats a task whose worker or machine died.
            remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(self.work)
            yield from _in_order(
                tasks,
                submit=lambda task: (task, remote.remote(task, self.settings)),
                result=lambda sent: self._result(ray, *sent),
                limit=cores * MAX_TASKS_PER_WORKER,
            )
        finally:
            ray.shutdown()

    def _result(self, ray: Any, task: Task, sent: Any) -> Scored:
        try:
            scored: Scored = ray.get(sent)
        except ray.exceptions.RayTaskError as exc:
            # An error of our own, as it would be without Ray: the caller knows it.
            raise exc.cause from None
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
            return _failed_task(task, self.settings)
        return scored


def _in_order(
    tasks: Iterable[Task],
    *,
    submit: Callable[[Task], Any],
    result: Callable[[Any], Scored],
    limit: int,
) -> Iterator[Scored]:
    """Keep at most `limit` tasks submitted, and yield their results in order."""
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) >= limit:
            yield result(waiting.popleft())
    while waiting:
        yield result(waiting.popleft())


def _failed_task(task: Task, settings: Config) -> Scored:
    return work.failed(task, work.signature_of(work.make_scorer(settings)), DIED)


def _single_process_pool() -> ProcessPoolExecutor:
    # A forked process could inherit a lock that another thread holds.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Exit when the process that started this one ends, even when it was killed."""

    def watch() -> None:
        # A killed parent cannot stop its workers, so each one waits for the end of its parent.
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
