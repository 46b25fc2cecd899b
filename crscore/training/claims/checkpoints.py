"""A run's folder: what is in it while the run goes on, and what survives a kill.

    OUT/checkpoints/run.json        which run this is, and the loss before it
    OUT/checkpoints/checkpoint-N/   weights, optimizer, random state and trainer state at step N
    OUT/training.json               written last: the run is over

A killed process leaves a checkpoint half written or half deleted. The trainer writes its state
last, so a checkpoint counts when all of it is there and its state can be read.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any, Final

from crscore import io
from crscore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD: Final = "training.json"
"""The finished run's record."""
_RUN: Final = "run.json"
_STATE: Final = "trainer_state.json"
_NAME: Final = re.compile(r"checkpoint-([1-9][0-9]*)")
# Of a model that is cut into parts the index stands for them: it is written after them.
_WEIGHTS: Final = (
    "adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json",
)  # fmt: skip
_NEEDED: Final = ("optimizer.pt", "scheduler.pt", "rng_state.pth")


def folder(out: Path) -> Path:
    """Name the folder of a run's checkpoints."""
    return out / "checkpoints"


def finished(out: Path) -> dict[str, Any] | None:
    """Read the record of a finished run; None when there is none.

    Raises:
        InputError: The file is there and no record.
    """
    return _object(out / RECORD)


def begin(out: Path, fingerprint: str) -> dict[str, Any]:
    """Begin a run in a folder, or take up the one that is in it.

    Args:
        out: The folder; made if needed.
        fingerprint: Names the run.

    Returns:
        What `remember` kept of it.

    Raises:
        InputError: Another run is in the folder, or something that is none.
    """
    known = _object(folder(out) / _RUN)
    if known is not None and known.get("run") != fingerprint:
        raise InputError(
            f"{out} holds an unfinished run with other rows, settings or base model; "
            "give these again, choose another folder with -o, or delete it"
        )
    if known is None:
        if out.is_dir() and any(file.name != "checkpoints" for file in out.iterdir()):
            raise InputError(f"{out} is not empty and holds no run; choose another folder with -o")
        folder(out).mkdir(parents=True, exist_ok=True)
        known = {"run": fingerprint}
        remember(out, known)
    return known


def remember(out: Path, known: dict[str, Any]) -> None:
    """Keep something about the run."""
    io.write_bytes(json.dumps(known).encode(), str(folder(out) / _RUN))


def latest(out: Path) -> Path | None:
    """Find the last whole checkpoint, and delete what a kill left of others.

    Returns:
        Its folder; None when the run starts at the beginning.
    """
    whole: list[tuple[int, Path]] = []
    for step, found in _steps(out):
        if _is_whole(found, step):
            whole.append((step, found))
        else:
            shutil.rmtree(found)
    return max(whole)[1] if whole else None


def clear(out: Path) -> None:
    """Delete all checkpoints."""
    shutil.rmtree(folder(out), ignore_errors=True)


def _steps(out: Path) -> Iterator[tuple[int, Path]]:
    for found in folder(out).iterdir():
        name = _NAME.fullmatch(found.name)
        if name is not None:
            yield int(name[1]), found


def _is_whole(found: Path, step: int) -> bool:
    if not all((found / name).is_file() for name in _NEEDED):
        return False
    if not any((found / name).is_file() for name in _WEIGHTS):
        return False
    try:
        state = json.loads((found / _STATE).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and state.get("global_step") == step


def _object(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        raise InputError(f"{path} cannot be read: {exc}; delete its folder to begin anew") from exc
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no run; choose another folder with -o")
    return found
