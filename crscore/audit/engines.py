"""Engines that process many pull requests: in this process, in worker processes, or on Ray.

Results are in the order of the tasks. If a worker dies, its task is tried again, so the results are
the same as in a single process.
"""

import contextlib
import importlib
import logging
import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from crscore.errors import ConfigError, requires

Task = TypeVar("Task")
Result = TypeVar("Result")

Engine: TypeAlias = Callable[
    [Iterable[Any], Callable[[Any], Any], Callable[[Any], Any]], Iterator[Any]
]
"""Processes tasks and yields one result for each, in their order.

The tasks can be pickled, and are read only when they are needed. The first function makes the
result of a task, in any process; an error that it raises ends the run. The second function makes
the result of a task during which `ATTEMPTS` workers died.
"""
ATTEMPTS: Final = 3
"""Number of workers that may die during a task before it counts as failed."""
# A task has all texts of a pull request, and tasks are read while others run.
MAX_TASKS_PER_WORKER: Final = 4
"""Maximum number of unfinished tasks per worker, which limits memory."""
WORKER_DIED_REASON: Final = f"its worker process died {ATTEMPTS} times"


def make_engine(name: str, workers: int) -> Engine:
    """Make an engine.

    Args:
        name: `processes`, or `ray[:ADDRESS]`.
        workers: Number of worker processes; with 1, this process does the work. For Ray without an
            address, the number of cores of the cluster to start.

    Raises:
        ConfigError: The engine is unknown, or `workers` is less than 1.
    """
    if workers < 1:
        raise ConfigError("workers", "settings", "expected at least 1")
    # `ray:10.0.0.5:6379` has the address of a running cluster, `ray` none.
    kind, _, address = name.partition(":")
    if kind == "ray":
        return partial(run_on_ray, workers=workers, address=address or None)
    if name != "processes":
        raise ConfigError("engine", "settings", f"is {name!r}; expected processes or ray[:ADDRESS]")
    return run_serially if workers == 1 else partial(run_in_processes, workers=workers)


def run_serially(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    died: Callable[[Task], Result],  # noqa: ARG001  (a dead worker would be this process)
) -> Iterator[Result]:
    """Process tasks in this process; see `Engine`."""
    return map(work, tasks)


def run_in_processes(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    died: Callable[[Task], Result],
    *,
    workers: int,
) -> Iterator[Result]:
    """Process tasks in worker processes on this machine; see `Engine`."""
    pool = _make_pool(workers)

    def submit(task: Task) -> tuple[Task, Future[Result]]:
        nonlocal pool
        with contextlib.suppress(BrokenProcessPool):
            return task, pool.submit(work, task)
        pool.shutdown()
        pool = _make_pool(workers)
        return task, pool.submit(work, task)

    def receive(sent: tuple[Task, Future[Result]]) -> Result:
        task, future = sent
        with contextlib.suppress(BrokenProcessPool):
            return future.result()
        # When a worker dies, all tasks of its pool fail and it is unknown which one killed it, so
        # each is tried alone
        # (https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.process.BrokenProcessPool).
        for _ in range(ATTEMPTS - 1):
            with _make_pool(1) as alone, contextlib.suppress(BrokenProcessPool):
                return alone.submit(work, task).result()
        return died(task)

    try:
        yield from _in_order(tasks, submit, receive, limit=workers * MAX_TASKS_PER_WORKER)
    finally:
        # If the caller stops early, tasks that have not begun are dropped.
        pool.shutdown(cancel_futures=True)


def run_on_ray(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    died: Callable[[Task], Result],
    *,
    workers: int,
    address: str | None = None,
) -> Iterator[Result]:
    """Process tasks on a Ray cluster; see `Engine`.

    The machines of the cluster need the clones at the same (shared) paths. Without an address, a
    cluster with `workers` cores is started on this machine.
    """
    # Otherwise Ray sends statistics to its makers:
    # https://docs.ray.io/en/latest/cluster/usage-stats.html
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with requires("ray", "pip install 'crscore[ray]'"):
        ray: Any = importlib.import_module("ray")
    cluster: dict[str, Any] = {"address": address} if address else {"num_cpus": workers}
    try:
        ray.init(**cluster, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as exc:
        name = address or "this machine"
        raise ConfigError("engine", "settings", f"no Ray at {name}: {exc}") from exc
    # Ray itself repeats a task whose worker or machine died, which its `multiprocessing.Pool` does
    # not. It takes plain functions only, and `work` may be a `functools.partial`.
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

    try:
        limit = int(ray.cluster_resources().get("CPU", 1)) * MAX_TASKS_PER_WORKER
        yield from _in_order(tasks, lambda task: (task, remote.remote(task)), receive, limit=limit)
    finally:
        ray.shutdown()


def _in_order(
    tasks: Iterable[Task],
    submit: Callable[[Task], Any],
    receive: Callable[[Any], Result],
    *,
    limit: int,
) -> Iterator[Result]:
    """Keep at most `limit` tasks submitted, and yield their results in order."""
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(submit(task))
        if len(waiting) >= limit:
            yield receive(waiting.popleft())
    while waiting:
        yield receive(waiting.popleft())


def _make_pool(workers: int) -> ProcessPoolExecutor:
    # A forked process could inherit a lock that another thread holds:
    # https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Exit when the parent process ends, even if it was killed."""

    def watch() -> None:
        # A killed parent cannot stop its workers, so each worker waits for the parent's end.
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
