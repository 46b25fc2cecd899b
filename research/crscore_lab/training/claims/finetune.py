"""Fine-tunes a causal language model to write claims, with trl's `SFTTrainer`.

    OUT/training.json   the run: prompt, settings and data; at the end, the losses are added
    OUT/checkpoints/    trl's checkpoints, from which an interrupted run resumes

Tested with trl 1.16, transformers 5.24, peft 0.21 and torch 2.13. No code of a model's repository
is run, and weights are read from, and written to, safetensors only.
"""

import importlib.metadata
import json
import shutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from crscore import io
from crscore.claims.model import CARD
from crscore.claims.prompt import Form, Prompt, format_answer, load_prompt, make_chat
from crscore.code import libraries
from crscore.errors import GenerationError, InputError
from crscore.llm import chat_text
from crscore.llm.prompt_escaping import Fence
from crscore.version import __version__
from crscore_lab.training.claims.rows import TrainingRow, read_rows, single_chunk

INSTALL: Final = "pip install 'crscore-lab[finetune]'"
PACKAGES: Final = {
    name: name for name in ("torch", "transformers", "peft", "trl", "accelerate", "datasets")
} | {"scikit-learn": "sklearn"}
"""Name of a required package -> name of its module."""


class FineTuning(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a run.

    Source:
        Naik et al., NAACL 2025, appendix C.3, for epochs, batch, length, split, evaluation and
        seed. It gives no learning rate, schedule or adapter; these are common values.
    """

    epochs: float = 5.0
    batch: int = 2
    accumulate: int = 1
    max_length: int = 1500
    """Maximum tokens of a row; longer rows are left out, so that the model does not learn cut
    answers."""
    val_split: float = 0.1
    """Share of the changes that are held out, in [0, 1)."""
    eval_steps: int = 100
    """Number of steps between two evaluations."""
    seed: int = 42
    full: bool = False
    """Whether to train all weights instead of an adapter."""
    lora_rank: int = 16
    """Rank of the adapter. vLLM accepts 8, 16, 32, 64, ..., but by default at most 16."""
    learning_rate: float | None = None
    """Peak learning rate; None for 2e-4, or for 2e-5 if all weights are trained."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    gradient_checkpointing: bool = False
    prompt: str = "claims.v1"
    form: Form = "json"
    few_shots: bool = False


def fine_tune(
    data: Path,
    model: str,
    settings: FineTuning,
    *,
    out: Path,
    revision: str | None = None,
    offline: bool = False,
    report: Callable[[str], None],
) -> dict[str, Any]:
    """Fine-tune a model, or resume an interrupted run.

    Args:
        data: File of training rows.
        model: Name on the hub, or a folder.
        settings: The settings.
        out: Folder for the weights, the tokenizer and `training.json`, or of an interrupted run.
        revision: Commit, branch or tag of a named model.
        offline: Whether to use only local files.
        report: Called with each line of progress.

    Returns:
        The content of `training.json`.

    Raises:
        ConfigError: The prompt does not exist.
        DependencyError: A package is missing.
        GenerationError: The model cannot be loaded or prompted.
        InputError: The rows cannot be read, no row can be used, or `out` has other files or another
            run.
    """
    for package, module in PACKAGES.items():
        libraries.load(module, package, INSTALL)
    prompt = load_prompt(settings.prompt)
    rows, sha256 = read_rows(data)
    base = _load_base(model, revision, settings, offline=offline)
    shown = {"sha256": prompt.sha256, "form": settings.form, "few_shots": settings.few_shots}
    run = {
        "model": model,
        "revision": getattr(base[0].config, "_commit_hash", None),
        "data": sha256,
        "prompt": {"name": settings.prompt, **shown},
        "settings": msgspec.to_builtins(settings),
    }
    record = _begin(out, run)
    if "losses" in record:
        return record
    examples = _make_examples(rows, base, prompt, settings)
    held_out = _hold_out([row.group for row, _ in examples], settings)
    sides = [
        [example for index, (_, example) in enumerate(examples) if (index in held_out) == side]
        for side in (False, True)
    ]
    counts = {"rows": len(rows), "train": len(sides[0]), "held_out": len(sides[1])}
    report(
        "{rows:,} rows: {train:,} to learn from, {held_out:,} held out; the others are too long, "
        "or their changes need several requests".format(**counts)
    )
    trainer = _make_trainer(base, sides, settings, out, report)
    checkpoints = out / "checkpoints"
    trainer.train(resume_from_checkpoint=any(checkpoints.glob("checkpoint-*")))
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    record |= {
        "counts": counts,
        "losses": _read_losses(trainer.state),
        "versions": {"crscore": __version__, **versions},
    }
    trainer.model.save_pretrained(out)
    base[1].save_pretrained(out)
    _write_record(out, record)
    # trl's checkpoints contain pickles.
    shutil.rmtree(checkpoints)
    return record


def _begin(out: Path, run: dict[str, Any]) -> dict[str, Any]:
    """Return the record of the run in a folder; if the folder is empty, write the record first."""
    path = out / CARD
    if not path.exists():
        if out.is_dir() and any(out.iterdir()):
            raise InputError(f"{out} is not empty and has no run; choose another folder with -o")
        out.mkdir(parents=True, exist_ok=True)
        _write_record(out, run)
        return dict(run)
    try:
        record: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise InputError(f"{path} cannot be read: {exc}; delete its folder to begin anew") from exc
    if any(record.get(key) != value for key, value in run.items()):
        raise InputError(
            f"{out} has a run with other rows, settings or base model; use the same ones again, "
            "choose another folder with -o, or delete the folder"
        )
    return record


def _write_record(out: Path, record: dict[str, Any]) -> None:
    io.write_bytes((json.dumps(record, indent=2) + "\n").encode(), str(out / CARD))


def _supports_bfloat16(settings: FineTuning) -> bool:
    cuda = import_module("torch").cuda
    is_supported = cuda.is_available() and cuda.is_bf16_supported()
    return settings.dtype == "bfloat16" or (settings.dtype == "auto" and is_supported)


def _load_base(
    model: str, revision: str | None, settings: FineTuning, *, offline: bool
) -> tuple[Any, Any]:
    transformers, torch = import_module("transformers"), import_module("torch")
    transformers.logging.set_verbosity_error()
    # Trained weights need float32, because in bfloat16 most steps are too small to change a weight.
    is_16_bit = _supports_bfloat16(settings) and (settings.dtype == "bfloat16" or not settings.full)
    options = {"revision": revision, "trust_remote_code": False, "local_files_only": offline}
    try:
        return (
            transformers.AutoModelForCausalLM.from_pretrained(
                model,
                dtype=torch.bfloat16 if is_16_bit else torch.float32,
                use_safetensors=True,
                **options,
            ),
            transformers.AutoTokenizer.from_pretrained(model, **options),
        )
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as exc:
        reason = " ".join(str(exc).split())[:300]
        raise GenerationError(f"{model} cannot be loaded: {reason}") from exc


def _make_examples(
    rows: Sequence[TrainingRow], base: tuple[Any, Any], prompt: Prompt, settings: FineTuning
) -> list[tuple[TrainingRow, dict[str, Any]]]:
    """Return the rows that fit, each with its prompt and completion in trl's format."""
    model, tokenizer = base
    context = getattr(model.config, "max_position_embeddings", settings.max_length)
    special = chat_text.special_tokens(tokenizer)
    examples = []
    for index, row in enumerate(rows):
        chunk = single_chunk(row.change)
        if chunk is None:
            continue
        # Each row has another mark around the change, because the model would learn a constant one.
        fence = Fence(nonce=f"{settings.seed}-{index}-{row.change.sha256[:8]}", special=special)
        shots = None if settings.few_shots else 0
        chat = make_chat(prompt, chunk, fence, settings.form, examples=shots)
        answer = format_answer(row.claims, row.implications, settings.form)
        length = len(chat_text.tokenize_chat(tokenizer, chat)) + len(tokenizer.tokenize(answer)) + 1
        if length > min(context, settings.max_length):
            continue
        example: dict[str, Any]
        if getattr(tokenizer, "chat_template", None):
            turns = [{"role": message.role, "content": message.text} for message in chat]
            example = {"prompt": turns, "completion": [{"role": "assistant", "content": answer}]}
        else:
            example = {"prompt": chat_text.format_plain_text(chat), "completion": answer}
        examples.append((row, example))
    if not examples:
        raise InputError(
            f"no row can be used: all {len(rows):,} have more than {settings.max_length:,} tokens, "
            "or their changes need several requests"
        )
    return examples


def _hold_out(groups: Sequence[str], settings: FineTuning) -> frozenset[int]:
    if not settings.val_split or len(set(groups)) < 2:
        return frozenset()
    splitter = import_module("sklearn.model_selection").GroupShuffleSplit(
        n_splits=1, test_size=settings.val_split, random_state=settings.seed
    )
    (_, held_out), *_ = splitter.split(groups, groups=groups)
    return frozenset(held_out.tolist())


def _make_trainer(
    base: tuple[Any, Any],
    sides: Sequence[Sequence[dict[str, Any]]],
    settings: FineTuning,
    out: Path,
    report: Callable[[str], None],
) -> Any:
    trl, transformers, datasets = map(import_module, ("trl", "transformers", "datasets"))
    on_gpu = import_module("torch").cuda.is_available()
    rows, held_out = (datasets.Dataset.from_list(list(side)) if side else None for side in sides)
    rate = settings.learning_rate or (2e-5 if settings.full else 2e-4)
    config = trl.SFTConfig(
        # The best checkpoint is stored as a path, which must not depend on the working folder.
        output_dir=str((out / "checkpoints").resolve()),
        completion_only_loss=True,
        max_length=None,
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=settings.batch,
        gradient_accumulation_steps=settings.accumulate,
        gradient_checkpointing=settings.gradient_checkpointing,
        learning_rate=rate,
        lr_scheduler_type="cosine",
        # transformers reads a number below 1 as a share of the steps.
        warmup_steps=0.03,
        bf16=on_gpu and _supports_bfloat16(settings),
        use_cpu=not on_gpu,
        dataloader_pin_memory=on_gpu,
        seed=settings.seed,
        eval_on_start=held_out is not None,
        eval_strategy="no" if held_out is None else "steps",
        eval_steps=settings.eval_steps,
        save_steps=settings.eval_steps,
        save_total_limit=2,
        load_best_model_at_end=held_out is not None,
        disable_tqdm=True,
        report_to="none",
    )
    adapter = import_module("peft").LoraConfig(
        task_type="CAUSAL_LM",
        r=settings.lora_rank,
        lora_alpha=2 * settings.lora_rank,
        lora_dropout=0.05,
        target_modules="all-linear",
    )
    trainer = trl.SFTTrainer(
        model=base[0],
        args=config,
        train_dataset=rows,
        eval_dataset=held_out,
        processing_class=base[1],
        peft_config=None if settings.full else adapter,
    )
    trainer.remove_callback(transformers.PrinterCallback)

    class Progress(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_log(self, _args: Any, state: Any, _control: Any, **context: Any) -> None:
            for key, loss in (context.get("logs") or {}).items():
                if key in ("loss", "eval_loss"):
                    report(f"step {state.global_step}/{state.max_steps}: {key} {loss:.4f}")

    trainer.add_callback(Progress)
    return trainer


def _read_losses(state: Any) -> dict[str, Any]:
    """Return the losses on held-out rows, in nats per token; None if no row was held out."""
    entries = [entry for entry in state.log_history if "eval_loss" in entry]
    losses = {entry["step"]: round(entry["eval_loss"], 6) for entry in entries}
    best_step = min(losses, key=lambda step: losses[step], default=None)
    return {
        "before": losses.get(0),
        "after": losses.get(best_step),
        "best_step": best_step,
        "steps": state.global_step,
        "history": losses,
    }
