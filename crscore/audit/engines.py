"""Engines that process many pull requests: in this process, in worker processes, or on Ray.

Results are in the order of the tasks. If a worker dies, its task is tried again, so the results are
the same as in a single process.
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
from typing import Any, Final, Protocol, TypeVar

from crscore.errors import ConfigError, DependencyError

Task = TypeVar("Task")
Result = TypeVar("Result")

ATTEMPTS: Final = 3
"""Number of workers that may die during a task before it counts as failed."""
MAX_TASKS_PER_WORKER: Final = 4
"""Maximum number of unfinished tasks per worker, which limits memory."""
WORKER_DIED_REASON: Final = f"its worker process died {ATTEMPTS} times"


class Engine(Protocol):
    """Processes many tasks."""

    def run(
        self,
        tasks: Iterable[Task],
        work: Callable[[Task], Result],
        died: Callable[[Task], Result],
    ) -> Iterator[Result]:
        """Process tasks.

        Args:
            tasks: Any number of tasks that can be pickled; read lazily, in the caller's thread.
            work: Makes a task's result, in any process; an error that it raises ends the run.
            died: Makes the result of a task during which `ATTEMPTS` workers died.

        Returns:
            One result per task, in the order of the tasks.
        """
        ...


def make_engine(name: str, workers: int) -> Engine:
    """Make an engine.

    Args:
        name: `processes`, or `ray[:ADDRESS]`.
        workers: Number of worker processes; 1 for this process. On Ray without an address, the
            number of cores of the cluster to start.

    Raises:
        ConfigError: The engine is unknown, or `workers` is less than 1.
    """
    if workers < 1:
        raise ConfigError("workers", "settings", "expected at least 1")
    kind, _, address = name.partition(":")
    if kind == "ray":
        return Ray(workers=workers, address=address or None)
    if name != "processes":
        raise ConfigError("engine", "settings", f"is {name!r}; expected processes or ray[:ADDRESS]")
    if workers == 1:
        return Serial()
    return Processes(workers=workers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serial:
    """Engine that runs in this process."""

    def run(
        self,
        tasks: Iterable[Task],
        work: Callable[[Task], Result],
        died: Callable[[Task], Result],  # noqa: ARG002  (a dead worker would be this process)
    ) -> Iterator[Result]:
        """Process tasks; see `Engine.run`."""
        return map(work, tasks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Processes:
    """Engine with worker processes on this machine."""

    workers: int

    def run(
        self,
        tasks: Iterable[Task],
        work: Callable[[Task], Result],
        died: Callable[[Task], Result],
    ) -> Iterator[Result]:
        """Process tasks; see `Engine.run`."""
        # One process per pool, so that a broken pool identifies the task that broke it.
        pools: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()
        for _ in range(self.workers):
            pools.put(_single_process_pool())
        # The threads only wait for their processes; each process has at most one task.
        threads = ThreadPoolExecutor(self.workers)
        try:
            yield from _in_order(
                tasks,
                submit=lambda task: threads.submit(_try, task, work, died, pools),
                result=lambda future: future.result(),
                limit=self.workers * MAX_TASKS_PER_WORKER,
            )
        finally:
            # If the caller stops early, tasks that have not begun are dropped.
            threads.shutdown(cancel_futures=True)
            for _ in range(self.workers):
                pools.get().shutdown()


def _try(
    task: Task,
    work: Callable[[Task], Result],
    died: Callable[[Task], Result],
    pools: SimpleQueue[ProcessPoolExecutor],
) -> Result:
    pool = pools.get()
    try:
        for _ in range(ATTEMPTS):
            try:
                return pool.submit(work, task).result()
            except BrokenProcessPool:
                pool.shutdown()
                pool = _single_process_pool()
    finally:
        pools.put(pool)
    return died(task)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ray:
    """Engine on a Ray cluster, whose machines need the clones at the same (shared) paths."""

    workers: int
    """Number of cores of the cluster that is started if there is no address."""
    address: str | None = None
    """Address of a cluster; None to start one on this machine."""

    def run(
        self,
        tasks: Iterable[Task],
        work: Callable[[Task], Result],
        died: Callable[[Task], Result],
    ) -> Iterator[Result]:
        """Process tasks; see `Engine.run`."""
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # otherwise Ray sends statistics to its makers
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
            # Ray itself repeats a task whose worker or machine died. It takes plain functions only,
            # and `work` may be a `functools.partial`.
            remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(
                lambda task: work(task)  # noqa: PLW0108
            )

            def receive(sent: tuple[Task, Any]) -> Result:
                task, reference = sent
                try:
                    result: Result = ray.get(reference)
                except ray.exceptions.RayTaskError as exc:
                    # Raise the original error, as without Ray, because the caller handles it.
                    raise exc.cause from None
                except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
                    return died(task)
                return result

            yield from _in_order(
                tasks,
                submit=lambda task: (task, remote.remote(task)),
                result=receive,
                limit=cores * MAX_TASKS_PER_WORKER,
            )
        finally:
            ray.shutdown()


def _in_order(
    tasks: Iterable[Task],
    *,
    submit: Callable[[Task], Any],
    result: Callable[[Any], Result],
    limit: int,
) -> Iterator[Result]:
    """Keep at most `limit` tasks submitted, and yield their results in order."""
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) >= limit:
            yield result(waiting.popleft())
    while waiting:
        yield result(waiting.popleft())


def _single_process_pool() -> ProcessPoolExecutor:
    # A forked process could inherit a lock that another thread holds.
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Exit when the parent process ends, even if it was killed."""

    def watch() -> None:
        # A killed parent cannot stop its workers, so each worker waits for the parent's end.
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
