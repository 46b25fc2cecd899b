"""Supervised fine-tuning with trl on encoded rows, resumable after a kill.

    OUT/checkpoints/run.json        identity of the run
    OUT/checkpoints/checkpoint-N/   weights, optimizer, random state and trainer state at step N
    OUT/training.json               written last: the run is over

trl's trainer writes a checkpoint's `trainer_state.json` last, so a checkpoint whose state can be
read is complete.
"""

import json
import math
import shutil
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from crscore import io
from crscore.errors import ConfigError, InputError
from crscore_lab.training.claims.base_model import BaseModel, one_line, uses_bfloat16
from crscore_lab.training.claims.examples import Encoded
from crscore_lab.training.claims.settings import ALL_LINEAR, Settings

KEPT_CHECKPOINTS: Final = 2
"""The best and the last."""
RECORD: Final = "training.json"
"""File name of the finished run's record."""


class Tuned(NamedTuple):
    """Outcome of a training run."""

    model: Any
    """Model with the best weights, by the loss on held-out rows."""
    losses: dict[str, Any]
    """`before` and `after`, mean losses per token on the held-out rows in nats; `best_step`, whose
    weights were kept; the number of `steps`; and the `history` of losses. None where nothing was
    held out."""
    seconds_per_step: float | None
    """Mean over the steps of this process, including evaluation and saving; None without steps."""


def tune(
    base: BaseModel,
    rows: Sequence[Encoded],
    held_out: Sequence[Encoded],
    settings: Settings,
    *,
    out: Path,
    run: str,
    report: Callable[[str], None],
) -> Tuned:
    """Train, from the start or from the last checkpoint in the folder.

    Args:
        base: Base model, changed in place.
        rows: Training rows, at least one.
        held_out: Evaluation rows; when empty, the last weights are kept, not the best.
        settings: Training settings.
        out: The run's folder.
        run: Identity of the run: rows, settings and base model.
        report: Called with each line of progress.

    Raises:
        ConfigError: The model has no layer with one of the target names.
        InputError: Another run is in the folder.
    """
    begin_run(out, run)
    checkpoint = last_checkpoint(out)
    first_step = _step(checkpoint) if checkpoint else 0
    # The libraries use names that the others deprecate.
    with warnings.catch_warnings(action="ignore", category=FutureWarning):
        trainer = _make_trainer(
            base,
            rows,
            held_out,
            settings,
            out=out,
            # A checkpoint has the loss from before the training.
            evaluate_first=bool(held_out) and not checkpoint,
        )
        trainer.add_callback(_progress_callback(report))
        if checkpoint:
            report(f"resuming at step {first_step}")
        output = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    state = trainer.state
    steps = state.global_step - first_step
    best = state.best_model_checkpoint
    log = [
        {"step": entry["step"], key: round(entry[key], 6)}
        for entry in state.log_history
        for key in ("loss", "eval_loss")
        if key in entry
    ]
    losses = {
        "before": next((entry["eval_loss"] for entry in log if not entry["step"]), None),
        "after": state.best_metric,
        "best_step": _step(Path(best)) if best else None,
        "steps": state.global_step,
        "history": [entry for entry in log if entry["step"]],
    }
    seconds = output.metrics["train_runtime"] / steps if steps else None
    return Tuned(trainer.model, losses, seconds)


def checkpoints_folder(out: Path) -> Path:
    """Return the folder of a run's checkpoints."""
    return out / "checkpoints"


def read_record(path: Path) -> dict[str, Any] | None:
    """Read the record of a run; return None when there is none.

    Raises:
        InputError: The file exists and is not a record.
    """
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as exc:
        raise InputError(f"{path} cannot be read: {exc}; delete its folder to begin anew") from exc
    if not isinstance(record, dict):
        raise InputError(f"{path} holds no run; choose another folder with -o")
    return record


def begin_run(out: Path, run: str) -> None:
    """Start a run in a folder, or resume the one in it.

    Args:
        out: The folder; created if missing.
        run: Identity of the run.

    Raises:
        InputError: Another run, or something that is not a run, is in the folder.
    """
    path = checkpoints_folder(out) / "run.json"
    record = read_record(path)
    if record is None:
        # A run that was killed early may have left this folder without a `run.json`.
        if out.is_dir() and any(file.name != "checkpoints" for file in out.iterdir()):
            raise InputError(f"{out} is not empty and holds no run; choose another folder with -o")
        path.parent.mkdir(parents=True, exist_ok=True)
        io.write_bytes(json.dumps({"run": run}).encode(), str(path))
    elif record.get("run") != run:
        raise InputError(
            f"{out} holds an unfinished run with other rows, settings or base model; "
            "give these again, choose another folder with -o, or delete it"
        )


def last_checkpoint(out: Path) -> Path | None:
    """Return the last complete checkpoint, and delete later, incomplete ones."""
    # By number: as texts, `checkpoint-1000` comes before `checkpoint-200`.
    checkpoints = sorted(checkpoints_folder(out).glob("checkpoint-*"), key=_step)
    while checkpoints and not _is_complete(checkpoints[-1]):
        shutil.rmtree(checkpoints.pop())
    return checkpoints[-1] if checkpoints else None


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("-")[2])


def _is_complete(checkpoint: Path) -> bool:
    try:
        state = json.loads((checkpoint / "trainer_state.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(state, dict) and state.get("global_step") == _step(checkpoint)


def _make_trainer(
    base: BaseModel,
    rows: Sequence[Encoded],
    held_out: Sequence[Encoded],
    settings: Settings,
    *,
    out: Path,
    evaluate_first: bool,
) -> Any:
    trl, transformers, datasets = map(import_module, ("trl", "transformers", "datasets"))
    gpu = import_module("torch").cuda.is_available()
    config = trl.SFTConfig(
        # The best checkpoint is stored as a path, which must not depend on the working folder.
        output_dir=str(checkpoints_folder(out).resolve()),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        gradient_checkpointing=settings.checkpointing,
        # Rows that are too long are left out beforehand; none is cut.
        max_length=None,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="cosine",
        # transformers reads a number below 1 as a share of the steps.
        warmup_steps=settings.warmup,
        weight_decay=settings.decay,
        bf16=gpu and uses_bfloat16(settings),
        use_cpu=not gpu,
        dataloader_pin_memory=gpu,
        seed=settings.seed,
        eval_on_start=evaluate_first,
        eval_strategy="steps" if held_out else "no",
        eval_steps=settings.eval_steps,
        save_steps=settings.eval_steps,
        save_total_limit=KEPT_CHECKPOINTS,
        load_best_model_at_end=bool(held_out),
        # A checkpoint forgets the losses since the last log.
        logging_steps=math.gcd(settings.eval_steps, 10),
        disable_tqdm=True,
    )
    # More GPUs in one process would silently multiply the batch.
    config._n_gpu = min(config.n_gpu, 1)  # there is no public API
    try:
        trainer = trl.SFTTrainer(
            model=base.model,
            args=config,
            train_dataset=datasets.Dataset.from_list([row.columns() for row in rows]),
            eval_dataset=datasets.Dataset.from_list([row.columns() for row in held_out])
            if held_out
            else None,
            processing_class=base.tokenizer,
            peft_config=None if settings.full else _adapter_config(settings),
        )
    except ValueError as exc:
        option = "--model" if settings.full else "--lora-targets"
        raise ConfigError(option, "command line", one_line(exc)) from exc
    for adapter in getattr(trainer.model, "peft_config", {}).values():
        # A set, whose order would differ in each adapter's file.
        adapter.target_modules = sorted(adapter.target_modules)
    trainer.remove_callback(transformers.PrinterCallback)
    return trainer


def _adapter_config(settings: Settings) -> Any:
    lora = settings.lora
    return import_module("peft").LoraConfig(
        task_type="CAUSAL_LM",
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=ALL_LINEAR if lora.targets == (ALL_LINEAR,) else list(lora.targets),
    )


def _progress_callback(report: Callable[[str], None]) -> Any:
    def on_log(_self: Any, _args: Any, state: Any, _control: Any, **context: Any) -> None:
        logs = context.get("logs") or {}
        for key, label in (("loss", "loss"), ("eval_loss", "loss on held-out rows")):
            if key in logs:
                report(f"step {state.global_step}/{state.max_steps}: {label} {logs[key]:.4f}")

    callback = import_module("transformers").TrainerCallback
    return type("ProgressCallback", (callback,), {"on_log": on_log})()
