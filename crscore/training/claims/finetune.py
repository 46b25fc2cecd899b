"""`crscore train claims`: from rows and a base model to a folder that engines load."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from crscore import io
from crscore.errors import GenerationError, InputError
from crscore.llm import chat_text
from crscore.training.claims import card, checkpoints, model, tune
from crscore.training.claims.encode import Encoded, Template
from crscore.training.claims.settings import fingerprint
from crscore.training.claims.split import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from crscore.training.claims.asking import Asking
    from crscore.training.claims.model import Base, Source
    from crscore.training.claims.rows import Rows, TrainingRow
    from crscore.training.claims.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A finished run."""

    record: dict[str, Any]
    """What `training.json` holds."""
    already: bool
    """It was finished before; nothing was done."""
    seconds_a_step: float | None = None
    """Of the steps made now; None when there were none."""


class _Chosen(NamedTuple):
    data: tune.Data
    counts: card.Counts


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
    """Fine-tune a model, or go on where a run in the same folder was stopped.

    Args:
        rows: What to learn from.
        source: The base model.
        settings: How.
        out: The folder; new, empty, or holding the same run.
        asking: The prompt, as the generator uses it.
        say: Takes a line of progress.
        keep_checkpoints: Leave them in the folder when all is done.

    Returns:
        The finished run's record. The folder has safetensors, tokenizer, `README.md` and
        `training.json`, which is written last.

    Raises:
        ConfigError: A setting does not fit the model.
        DependencyError: A package is missing.
        ModelNotFoundError: The base model is not here.
        GenerationError: It cannot be loaded or asked.
        InputError: The folder holds something else, or no row is left to learn from.
    """
    model.require()
    base = model.load_base(source, settings)
    run = fingerprint(
        {
            "rows": rows.sha256,
            "base": base.identity,
            "prompt": asking.as_json(),
            "settings": settings.as_json(),
        }
    )
    done = checkpoints.finished(out)
    if done is not None:
        if done.get("run") != run:
            raise InputError(f"{out} holds another finished run; choose another folder with -o")
        return Trained(record=done, already=True)
    chosen = _choose(rows, base, settings, asking, room=_room(base, settings))
    say(_counts_text(chosen.counts))
    adapted = model.adapted(base.model, settings)
    pad = base.tokenizer.pad_token_id
    tuned = tune.tune(
        adapted,
        chosen.data,
        settings,
        out=out,
        run=run,
        pad=base.tokenizer.eos_token_id if pad is None else pad,
        say=say,
    )
    made = card.record(
        run=run,
        data=rows.sha256,
        counts=chosen.counts,
        base={"model": source.name, "revision": base.revision, "identity": base.identity},
        prompt=asking.as_json(),
        settings=settings.as_json(),
        tuned=tuned,
    )
    _save(adapted, base, made, out)
    if not keep_checkpoints:
        checkpoints.clear(out)
    return Trained(record=made, already=False, seconds_a_step=tuned.seconds_a_step)


def _room(base: Base, settings: Settings) -> int:
    """Count the tokens that a row may have: what was asked for, or all that the model takes."""
    most = getattr(base.model.config, "max_position_embeddings", None)
    return settings.max_length if most is None else min(settings.max_length, most)


def _choose(rows: Rows, base: Base, settings: Settings, asking: Asking, *, room: int) -> _Chosen:
    template = Template(base.tokenizer, _ends(base.model))
    special = chat_text.special(base.tokenizer)
    kept: list[tuple[TrainingRow, Encoded]] = []
    several = too_long = one_section = 0
    for row in rows.rows:
        if settings.both_sections and not row.implications:
            one_section += 1
            continue
        chat = asking.chat(row, seed=settings.seed, special=special)
        if chat is None:
            several += 1
            continue
        encoded = template.encode(chat, asking.answer(row))
        if len(encoded.ids) > room:
            too_long += 1
        else:
            kept.append((row, encoded))
    counts = {"too_long": too_long, "several": several, "one_section": one_section}
    if not kept:
        raise InputError(f"no row is left to learn from: {counts}, at most {room:,} tokens a row")
    sides = split([row.group for row, _ in kept], share=settings.val_split, seed=settings.seed)
    return _Chosen(
        data=tune.Data(
            train=[kept[at][1] for at in sides.train],
            held_out=[kept[at][1] for at in sides.held_out],
        ),
        counts=card.Counts(
            rows=len(rows.rows),
            train=len(sides.train),
            held_out=len(sides.held_out),
            broken_off=sum(row.cut for row, _ in kept),
            **counts,
        ),
    )


def _ends(loaded: Any) -> Sequence[int]:
    named = getattr(loaded.generation_config, "eos_token_id", None)
    if named is None:
        return ()
    return [named] if isinstance(named, int) else list(named)


def _counts_text(counts: card.Counts) -> str:
    return (
        f"{counts.rows:,} rows: {counts.train:,} to learn from, {counts.held_out:,} held out; "
        f"left out {counts.too_long:,} too long, {counts.several:,} in several parts, "
        f"{counts.one_section:,} without implications"
    )


def _save(adapted: Any, base: Base, made: dict[str, Any], out: Path) -> None:
    try:
        adapted.save_pretrained(str(out))
        base.tokenizer.save_pretrained(str(out))
    except OSError as exc:
        raise GenerationError(f"the weights cannot be written to {out}: {exc}") from exc
    for weights in out.glob("*.safetensors"):
        weights.chmod(0o644)  # the library leaves them to their owner alone
    # peft has written a card of its own.
    io.write_bytes(card.readme(made).encode(), str(out / "README.md"))
    content = json.dumps(made, indent=2) + "\n"
    io.write_bytes(content.encode(), str(out / checkpoints.RECORD))
