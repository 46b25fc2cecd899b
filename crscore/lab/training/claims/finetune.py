"""`crscore train claims`: from rows and a base model to a folder for the engines."""

from __future__ import annotations

import importlib.metadata
import importlib.resources
import json
import platform
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import jinja2

from crscore import io
from crscore.errors import GenerationError, InputError
from crscore.lab.training.claims import model, trainer
from crscore.lab.training.claims.examples import Asking, Encoded, Template, split_groups
from crscore.lab.training.claims.model import Base, Source
from crscore.lab.training.claims.rows import Rows, TrainingRow
from crscore.lab.training.claims.settings import Settings, hash_run
from crscore.llm import chat_text
from crscore.version import __version__

FORMAT: Final = 1
"""Version of the record."""
_PACKAGES: Final = ("torch", "transformers", "peft", "accelerate", "tokenizers", "safetensors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Finished run."""

    record: dict[str, Any]
    """Content of `training.json`."""
    already: bool
    """Whether the run was already finished, so that nothing was done."""
    seconds_a_step: float | None = None
    """Mean over the steps made now; None when there were none."""


class _Chosen(NamedTuple):
    train: list[Encoded]
    held_out: list[Encoded]
    counts: dict[str, Any]
    """`data` of the record."""


def train(
    rows: Rows,
    source: Source,
    settings: Settings,
    *,
    out: Path,
    asking: Asking,
    say: Callable[[str], None],
    keep_checkpoints: bool = False,
) -> Trained:
    """Fine-tune a model, or resume an interrupted run in the same folder.

    Args:
        rows: Training rows.
        source: The base model.
        settings: Training settings.
        out: Output folder; new, empty, or holding the same run.
        asking: The prompt, as the generator uses it.
        say: Called with each line of progress.
        keep_checkpoints: Keep the checkpoints when the run is finished.

    Returns:
        The finished run's record. The folder has safetensors, tokenizer, `README.md` and
        `training.json`, which is written last.

    Raises:
        ConfigError: A setting does not fit the model.
        DependencyError: A package is missing.
        ModelNotFoundError: The base model is not available.
        GenerationError: The base model cannot be loaded or prompted.
        InputError: The folder holds something else, or no training row is left.
    """
    model.require()
    base = model.load_base(source, settings)
    given = {"prompt": asking.as_json(), "settings": settings.as_json()}
    run = hash_run({"rows": rows.sha256, "base": base.identity} | given)
    done = trainer.read_record(out / trainer.RECORD)
    if done is not None:
        if done.get("run") != run:
            raise InputError(f"{out} holds another finished run; choose another folder with -o")
        return Trained(record=done, already=True)
    chosen = _choose(rows, base, settings, asking)
    say(_counts_text(chosen.counts))
    adapted = model.add_adapter(base.model, settings)
    pad = base.tokenizer.pad_token_id
    tuned = trainer.tune(
        adapted,
        chosen.train,
        chosen.held_out,
        settings,
        out=out,
        run=run,
        pad=base.tokenizer.eos_token_id if pad is None else pad,
        say=say,
    )
    versions = {name: importlib.metadata.version(name) for name in _PACKAGES}
    record = {
        "format": FORMAT,
        "run": run,
        "base": {"model": source.name, "revision": base.revision, "identity": base.identity},
        "prompt": given["prompt"],
        "data": {"sha256": rows.sha256} | chosen.counts,
        "settings": given["settings"],
        "losses": tuned.losses,
        "versions": {"crscore": __version__, "python": platform.python_version()} | versions,
    }
    _save(adapted, base, record, out)
    if not keep_checkpoints:
        shutil.rmtree(trainer.checkpoints_folder(out), ignore_errors=True)
    return Trained(record=record, already=False, seconds_a_step=tuned.seconds_a_step)


def render_card(record: Mapping[str, Any]) -> str:
    """Write the model card of a finished run.

    Args:
        record: Content of `training.json`.

    Returns:
        Markdown, with the metadata header for the hub.
    """
    environment = jinja2.Environment(  # noqa: S701  (Markdown, not HTML)
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # A JSON string is a YAML string.
    environment.filters |= {"json": _json, "quote": shlex.quote, "count": "{:,}".format}
    template = importlib.resources.files(__package__).joinpath("card.md.jinja")
    return environment.from_string(template.read_text(encoding="utf-8")).render(record)


def _json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, indent=indent)


def _choose(rows: Rows, base: Base, settings: Settings, asking: Asking) -> _Chosen:
    most = getattr(base.model.config, "max_position_embeddings", None)
    room = settings.max_length if most is None else min(settings.max_length, most)
    template = Template(base.tokenizer, _ends(base.model))
    special = chat_text.special(base.tokenizer)
    kept: list[tuple[TrainingRow, Encoded]] = []
    left_out = {"too_long": 0, "several_parts": 0, "one_section": 0}
    for row in rows.rows:
        if settings.both_sections and not row.implications:
            left_out["one_section"] += 1
            continue
        chat = asking.chat(row, seed=settings.seed, special=special)
        if chat is None:
            left_out["several_parts"] += 1
            continue
        encoded = template.encode(chat, asking.answer(row))
        if len(encoded.ids) > room:
            left_out["too_long"] += 1
        else:
            kept.append((row, encoded))
    if not kept:
        raise InputError(f"no row is left to learn from: {left_out}, at most {room:,} tokens a row")
    groups = [row.group for row, _ in kept]
    sides = split_groups(groups, share=settings.val_split, seed=settings.seed)
    return _Chosen(
        train=[kept[at][1] for at in sides.train],
        held_out=[kept[at][1] for at in sides.held_out],
        counts={
            "rows": len(rows.rows),
            "train": len(sides.train),
            "held_out": len(sides.held_out),
            "left_out": left_out,
            "broken_off": sum(row.cut for row, _ in kept),
        },
    )


def _ends(loaded: Any) -> Sequence[int]:
    named = getattr(loaded.generation_config, "eos_token_id", None)
    if named is None:
        return ()
    return [named] if isinstance(named, int) else list(named)


def _counts_text(counts: Mapping[str, Any]) -> str:
    left_out = counts["left_out"]
    return (
        f"{counts['rows']:,} rows: {counts['train']:,} to learn from, "
        f"{counts['held_out']:,} held out; left out {left_out['too_long']:,} too long, "
        f"{left_out['several_parts']:,} in several parts, "
        f"{left_out['one_section']:,} without implications"
    )


def _save(adapted: Any, base: Base, record: dict[str, Any], out: Path) -> None:
    try:
        adapted.save_pretrained(str(out))
        base.tokenizer.save_pretrained(str(out))
    except OSError as exc:
        raise GenerationError(f"the weights cannot be written to {out}: {exc}") from exc
    for weights in out.glob("*.safetensors"):
        weights.chmod(0o644)  # the library makes them readable by their owner only
    # peft has written a model card too.
    io.write_bytes(render_card(record).encode(), str(out / "README.md"))
    content = json.dumps(record, indent=2) + "\n"
    io.write_bytes(content.encode(), str(out / trainer.RECORD))
