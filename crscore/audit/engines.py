"""Engines that process many pull requests: in this process, in worker processes, or on Ray.

All engines yield the same results in the same order, because a task whose worker process died is
tried again.
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
"""Function that processes tasks and yields one result for each task, in the order of the tasks.

Its arguments are the tasks and two functions. Tasks must be picklable; they are read from the
iterable only when a worker needs them. The first function computes the result of a task, in any
process; if it raises an error, the run ends with that error. The second function returns the result
of a task during which `ATTEMPTS` worker processes died.
"""
ATTEMPTS: Final = 3
"""Number of worker processes that may die during a task before the task counts as failed."""
# The limit bounds memory, because a task has all texts of a pull request.
MAX_TASKS_PER_WORKER: Final = 4
"""Maximum number of tasks per worker that are waiting or running."""
WORKER_DIED_REASON: Final = f"its worker process died {ATTEMPTS} times"


def make_engine(name: str, workers: int) -> Engine:
    """Create an engine.

    Args:
        name: `processes`, or `ray[:ADDRESS]` for a Ray cluster.
        workers: Number of worker processes. With 1, the tasks run in this process. For Ray without
            an address, the number of cores of the cluster that is started; with an address,
            ignored.

    Raises:
        ConfigError: The engine is unknown, or `workers` is less than 1.
    """
    if workers < 1:
        raise ConfigError("workers", "settings", "expected at least 1")
    # `ray:10.0.0.5:6379` names a running cluster; `ray` starts one.
    kind, _, address = name.partition(":")
    if kind == "ray":
        return partial(run_on_ray, workers=workers, address=address or None)
    if name != "processes":
        raise ConfigError("engine", "settings", f"is {name!r}; expected processes or ray[:ADDRESS]")
    return run_serially if workers == 1 else partial(run_in_processes, workers=workers)


def run_serially(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    on_death: Callable[[Task], Result],  # noqa: ARG001  (there is no worker that could die)
) -> Iterator[Result]:
    """Process tasks in this process; see `Engine`."""
    return map(work, tasks)


def run_in_processes(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    on_death: Callable[[Task], Result],
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
        # When a worker dies, all tasks of its pool fail. It is unknown which task was the cause, so
        # each task is tried again in a pool of its own
        # (https://docs.python.org/3/library/concurrent.futures.html#concurrent.futures.process.BrokenProcessPool).
        for _ in range(ATTEMPTS - 1):
            with _make_pool(1) as alone, contextlib.suppress(BrokenProcessPool):
                return alone.submit(work, task).result()
        return on_death(task)

    try:
        yield from _in_order(tasks, submit, receive, limit=workers * MAX_TASKS_PER_WORKER)
    finally:
        # If the caller stops early, tasks that have not begun are cancelled.
        pool.shutdown(cancel_futures=True)


def run_on_ray(
    tasks: Iterable[Task],
    work: Callable[[Task], Result],
    on_death: Callable[[Task], Result],
    *,
    workers: int,
    address: str | None = None,
) -> Iterator[Result]:
    """Process tasks on a Ray cluster; see `Engine`.

    All machines of the cluster need the clones under the same paths, for example on a shared disk.
    Without an address, a cluster with `workers` cores is started on this machine.
    """
    # Without this setting, Ray sends usage statistics to its developers:
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
    # `ray.remote` repeats a task whose worker or machine died; `ray.util.multiprocessing.Pool` does
    # not. The lambda is needed, because `ray.remote` accepts only plain functions, and `work` may
    # be a `functools.partial`.
    remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS - 1)(
        lambda task: work(task)  # noqa: PLW0108
    )

    def receive(sent: tuple[Task, Any]) -> Result:
        task, reference = sent
        try:
            result: Result = ray.get(reference)
        except ray.exceptions.RayTaskError as exc:
            # Raise the original error, because callers handle the same errors as without Ray.
            raise exc.cause from None
        except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError):
            return on_death(task)
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
    """Yield the results in the order of the tasks, with at most `limit` tasks submitted at once."""
    submitted: deque[Any] = deque()
    for task in tasks:
        submitted.append(submit(task))
        if len(submitted) >= limit:
            yield receive(submitted.popleft())
    while submitted:
        yield receive(submitted.popleft())


def _make_pool(workers: int) -> ProcessPoolExecutor:
    # A forked process could inherit a lock that another thread holds:
    # https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Make this worker process exit when the parent process ends, even if the parent is killed."""

    def watch() -> None:
        # A killed parent cannot stop its workers, so each worker watches the parent.
        parent = multiprocessing.parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
