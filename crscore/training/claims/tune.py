"""The training loop: transformers' trainer on encoded rows, taken up again where it was killed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from crscore.training.claims import checkpoints, encode, model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from crscore.training.claims.encode import Encoded
    from crscore.training.claims.settings import Settings

    Report = Callable[[str], None]

KEPT: Final = 2
"""Checkpoints at a time: the best and the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """What is learned and what is measured on."""

    train: Sequence[Encoded]
    """At least one row."""
    held_out: Sequence[Encoded]
    """May be empty: then the last weights are kept, not the best."""


class Tuned(NamedTuple):
    """How a run went."""

    steps: int
    """Steps of the optimizer."""
    best_step: int | None
    """The step whose weights were kept; None where nothing was held out."""
    before: float | None
    """Mean loss a token on the held-out rows before the first step, in nats."""
    after: float | None
    """The same with the weights that were kept."""
    history: tuple[Mapping[str, float], ...]
    """Step, and loss on training rows or on held-out ones, in order."""
    seconds_a_step: float | None
    """Of the steps of this process, evaluation and saving included; None when it made none."""


def tune(
    adapted: Any, data: Data, settings: Settings, *, out: Path, run: str, pad: int, say: Report
) -> Tuned:
    """Train, from the beginning or from the last checkpoint in the folder.

    Args:
        adapted: The model, with its adapter unless all weights move; changed in place.
        data: Encoded rows.
        settings: How.
        out: The run's folder.
        run: Names the run: rows, settings and base model.
        pad: Token that fills up a row.
        say: Takes a line of progress.

    Returns:
        How it went; the model has the best weights, by the loss on held-out rows.

    Raises:
        InputError: Another run is in the folder.
    """
    known = checkpoints.begin(out, run)
    start = checkpoints.latest(out)
    trainer = _trainer(adapted, data, settings, out=out, pad=pad, say=say)
    with model.quiet():
        if data.held_out and "before" not in known:
            known["before"] = trainer.evaluate()["eval_loss"]
            checkpoints.remember(out, known)
        if start is not None:
            say(f"taking up at step {start.name.rpartition('-')[2]}")
        model.library("transformers").set_seed(
            settings.seed
        )  # measuring has drawn from the generators
        first = time.monotonic()
        trainer.train(resume_from_checkpoint=None if start is None else str(start))
        spent = time.monotonic() - first
    state = trainer.state
    made = state.global_step - (0 if start is None else int(start.name.rpartition("-")[2]))
    return Tuned(
        steps=state.global_step,
        best_step=_best_step(state),
        before=known.get("before"),
        after=state.best_metric,
        history=tuple(_history(state.log_history)),
        seconds_a_step=spent / made if made else None,
    )


def _best_step(state: Any) -> int | None:
    if state.best_model_checkpoint is None:
        return None
    return int(Path(state.best_model_checkpoint).name.rpartition("-")[2])


def _trainer(
    adapted: Any, data: Data, settings: Settings, *, out: Path, pad: int, say: Report
) -> Any:
    transformers = model.library("transformers")
    transformers.logging.set_verbosity_error()
    trainer = transformers.Trainer(
        model=adapted,
        args=_arguments(settings, out, measured=bool(data.held_out)),
        data_collator=_collator(pad),
        train_dataset=list(data.train),
        eval_dataset=list(data.held_out) or None,
    )
    for callback in (transformers.PrinterCallback, transformers.ProgressCallback):
        trainer.remove_callback(callback)
    trainer.add_callback(_progress(say))
    return trainer


def _arguments(settings: Settings, out: Path, *, measured: bool) -> Any:
    torch = model.library("torch")
    transformers = model.library("transformers")
    gpu = torch.cuda.is_available()
    arguments = transformers.TrainingArguments(
        # The best checkpoint is kept as a path: it must not depend on where the run is taken up.
        output_dir=str(checkpoints.folder(out).resolve()),
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
    # More GPUs in one process would multiply the batch behind the user's back.
    arguments._n_gpu = min(arguments.n_gpu, 1)  # there is no public way
    return arguments


def _collator(pad: int) -> Callable[[Sequence[Encoded]], Mapping[str, Any]]:
    torch = model.library("torch")

    def collate(rows: Sequence[Encoded]) -> Mapping[str, Any]:
        return {name: torch.tensor(made) for name, made in encode.padded(rows, pad=pad).items()}

    return collate


def _progress(say: Report) -> Any:
    transformers = model.library("transformers")

    def on_log(_self: Any, _args: Any, state: Any, _control: Any, **told: Any) -> None:
        logs = told.get("logs") or {}
        for key, what in (("loss", "loss"), ("eval_loss", "loss on held-out rows")):
            if key in logs:
                say(f"step {state.global_step}/{state.max_steps}: {what} {logs[key]:.4f}")

    return type("Progress", (transformers.TrainerCallback,), {"on_log": on_log})()


def _history(log: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, float]]:
    for entry in log:
        for key in ("loss", "eval_loss"):
            if key in entry:
                yield {"step": entry["step"], key: round(entry[key], 6)}
