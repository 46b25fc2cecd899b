"""Training loop: transformers' trainer on encoded rows, resumable after a kill.

    OUT/checkpoints/run.json        which run this is, and the loss before it
    OUT/checkpoints/checkpoint-N/   weights, optimizer, random state and trainer state at step N
    OUT/training.json               written last: the run is over

A killed process can leave a checkpoint half written or half deleted. The trainer writes its state
last, so a checkpoint counts when it is complete and its state can be read.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from crscore import io
from crscore.errors import InputError
from crscore.lab.training.claims import model
from crscore.lab.training.claims.examples import Encoded, pad_rows
from crscore.lab.training.claims.settings import Settings

Report = Callable[[str], None]

KEPT: Final = 2
"""Number of checkpoints kept: the best and the last."""
RECORD: Final = "training.json"
"""File name of the finished run's record."""
_RUN: Final = "run.json"
_CHECKPOINT: Final = re.compile(r"checkpoint-([1-9][0-9]*)")
# For a sharded model, the index represents the shards: it is written after them.
_WEIGHTS: Final = (
    "adapter_model.safetensors", "model.safetensors", "model.safetensors.index.json",
)  # fmt: skip
_NEEDED: Final = ("optimizer.pt", "scheduler.pt", "rng_state.pth")


class Tuned(NamedTuple):
    """Outcome of a training run."""

    losses: dict[str, Any]
    """`before` and `after`, mean losses per token on the held-out rows in nats; `best_step`, whose
    weights were kept; the number of `steps`; and the `history` of losses. None where nothing was
    held out."""
    seconds_a_step: float | None
    """Mean over the steps of this process, including evaluation and saving; None without steps."""


def tune(
    adapted: Any,
    rows: Sequence[Encoded],
    held_out: Sequence[Encoded],
    settings: Settings,
    *,
    out: Path,
    run: str,
    pad: int,
    say: Report,
) -> Tuned:
    """Train, from the start or from the last checkpoint in the folder.

    Args:
        adapted: The model, with its adapter unless all weights are trained; changed in place.
        rows: Training rows, at least one.
        held_out: Evaluation rows; when empty, the last weights are kept, not the best.
        settings: Training settings.
        out: The run's folder.
        run: Identity of the run: rows, settings and base model.
        pad: Padding token.
        say: Called with each line of progress.

    Returns:
        The outcome; the model has the best weights, by the loss on held-out rows.

    Raises:
        InputError: Another run is in the folder.
    """
    known = begin_run(out, run)
    start = latest_checkpoint(out)
    first_step = 0 if start is None else _step(start)
    transformers = model.library("transformers")
    transformers.logging.set_verbosity_error()
    trainer = transformers.Trainer(
        model=adapted,
        args=_arguments(settings, out, measured=bool(held_out)),
        data_collator=_collator(pad),
        train_dataset=list(rows),
        eval_dataset=list(held_out) or None,
    )
    for callback in (transformers.PrinterCallback, transformers.ProgressCallback):
        trainer.remove_callback(callback)
    trainer.add_callback(_progress(say))
    with model.quiet():
        if held_out and "before" not in known:
            known["before"] = trainer.evaluate()["eval_loss"]
            save_run(out, known)
        if start is not None:
            say(f"resuming at step {first_step}")
        transformers.set_seed(settings.seed)  # evaluation has used the random generators
        began = time.monotonic()
        trainer.train(resume_from_checkpoint=None if start is None else str(start))
        spent = time.monotonic() - began
    state = trainer.state
    best = state.best_model_checkpoint
    losses = {
        "before": known.get("before"),
        "after": state.best_metric,
        "best_step": None if best is None else _step(Path(best)),
        "steps": state.global_step,
        "history": [
            {"step": entry["step"], key: round(entry[key], 6)}
            for entry in state.log_history
            for key in ("loss", "eval_loss")
            if key in entry
        ],
    }
    made = state.global_step - first_step
    return Tuned(losses=losses, seconds_a_step=spent / made if made else None)


def checkpoints_folder(out: Path) -> Path:
    """Return the folder of a run's checkpoints."""
    return out / "checkpoints"


def read_record(path: Path) -> dict[str, Any] | None:
    """Read the record of a run; return None when there is none.

    Raises:
        InputError: The file exists and is not a record.
    """
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        raise InputError(f"{path} cannot be read: {exc}; delete its folder to begin anew") from exc
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no run; choose another folder with -o")
    return found


def begin_run(out: Path, run: str) -> dict[str, Any]:
    """Start a run in a folder, or resume the one in it.

    Args:
        out: The folder; created if missing.
        run: Identity of the run.

    Returns:
        The state saved by `save_run`.

    Raises:
        InputError: Another run, or something that is not a run, is in the folder.
    """
    known = read_record(checkpoints_folder(out) / _RUN)
    if known is not None and known.get("run") != run:
        raise InputError(
            f"{out} holds an unfinished run with other rows, settings or base model; "
            "give these again, choose another folder with -o, or delete it"
        )
    if known is None:
        if out.is_dir() and any(file.name != "checkpoints" for file in out.iterdir()):
            raise InputError(f"{out} is not empty and holds no run; choose another folder with -o")
        checkpoints_folder(out).mkdir(parents=True, exist_ok=True)
        known = {"run": run}
        save_run(out, known)
    return known


def save_run(out: Path, known: dict[str, Any]) -> None:
    """Save the state of an unfinished run."""
    io.write_bytes(json.dumps(known).encode(), str(checkpoints_folder(out) / _RUN))


def latest_checkpoint(out: Path) -> Path | None:
    """Find the last complete checkpoint, and delete the remains of others.

    Returns:
        Its folder; None when there is no checkpoint.
    """
    whole = []
    for found in list(checkpoints_folder(out).iterdir()):
        if _CHECKPOINT.fullmatch(found.name):
            if _is_whole(found):
                whole.append(found)
            else:
                shutil.rmtree(found)
    return max(whole, key=_step, default=None)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _is_whole(checkpoint: Path) -> bool:
    if not all((checkpoint / name).is_file() for name in _NEEDED):
        return False
    if not any((checkpoint / name).is_file() for name in _WEIGHTS):
        return False
    try:
        state = json.loads((checkpoint / "trainer_state.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and state.get("global_step") == _step(checkpoint)


def _arguments(settings: Settings, out: Path, *, measured: bool) -> Any:
    gpu = model.library("torch").cuda.is_available()
    arguments = model.library("transformers").TrainingArguments(
        # The best checkpoint is stored as a path, which must not depend on the working folder.
        output_dir=str(checkpoints_folder(out).resolve()),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=settings.warmup,
        weight_decay=settings.decay,
        bf16=gpu and model.half(settings),
        use_cpu=not gpu,
        dataloader_pin_memory=gpu,
        seed=settings.seed,
        data_seed=settings.seed,
        eval_strategy="steps" if measured else "no",
        eval_steps=settings.eval_steps,
        save_strategy="steps",
        save_steps=settings.eval_steps,
        save_total_limit=KEPT,
        load_best_model_at_end=measured,
        metric_for_best_model="loss" if measured else None,
        greater_is_better=False if measured else None,
        logging_steps=min(settings.eval_steps, 10),
        prediction_loss_only=True,
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
        label_names=["labels"],
    )
    # More GPUs in one process would silently multiply the batch.
    arguments._n_gpu = min(arguments.n_gpu, 1)  # there is no public API
    return arguments


def _collator(pad: int) -> Callable[[Sequence[Encoded]], Mapping[str, Any]]:
    torch = model.library("torch")

    def collate(rows: Sequence[Encoded]) -> Mapping[str, Any]:
        return {name: torch.tensor(made) for name, made in pad_rows(rows, pad=pad).items()}

    return collate


def _progress(say: Report) -> Any:
    transformers = model.library("transformers")

    def on_log(_self: Any, _args: Any, state: Any, _control: Any, **given: Any) -> None:
        logs = given.get("logs") or {}
        for key, what in (("loss", "loss"), ("eval_loss", "loss on held-out rows")):
            if key in logs:
                say(f"step {state.global_step}/{state.max_steps}: {what} {logs[key]:.4f}")

    return type("Progress", (transformers.TrainerCallback,), {"on_log": on_log})()
