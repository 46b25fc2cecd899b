"""What stands beside the weights: a record for programs, a model card for people."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crscore.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crscore.training.claims.tune import Tuned

FORMAT: Final = 1
"""Version of the record."""
_PACKAGES: Final = ("torch", "transformers", "peft", "accelerate", "tokenizers", "safetensors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What became of the rows."""

    rows: int
    """In the file."""
    train: int
    """Learned from."""
    held_out: int
    """Measured on."""
    too_long: int
    """Left out: more tokens than the run allows."""
    several: int
    """Left out: the change would be asked about in several parts."""
    one_section: int
    """Left out: no implications, where both sections were asked for."""
    broken_off: int
    """Used without the last point, which broke off."""

    @property
    def left_out(self) -> int:
        """All that were not used."""
        return self.too_long + self.several + self.one_section


def record(
    *,
    run: str,
    data: str,
    counts: Counts,
    base: Mapping[str, Any],
    prompt: Mapping[str, Any],
    settings: Mapping[str, Any],
    tuned: Tuned,
) -> dict[str, Any]:
    """Put together what `training.json` holds.

    Args:
        run: Names rows, base model, prompt and settings together.
        data: Hash of the rows.
        counts: What became of them.
        base: `model`, `revision` and `identity` of the base model.
        prompt: `name`, `sha256`, `form` and `few_shots`: how the model wants to be asked.
        settings: All settings.
        tuned: How the run went.

    Returns:
        Plain values for JSON.
    """
    return {
        "format": FORMAT,
        "run": run,
        "base": dict(base),
        "prompt": dict(prompt),
        "data": {
            "sha256": data,
            "rows": counts.rows,
            "train": counts.train,
            "held_out": counts.held_out,
            "left_out": {
                "too_long": counts.too_long,
                "several_parts": counts.several,
                "one_section": counts.one_section,
            },
            "broken_off": counts.broken_off,
        },
        "settings": dict(settings),
        "losses": {
            "before": tuned.before,
            "after": tuned.after,
            "best_step": tuned.best_step,
            "steps": tuned.steps,
            "history": [dict(entry) for entry in tuned.history],
        },
        "versions": {"crscore": __version__, "python": platform.python_version()}
        | {name: importlib.metadata.version(name) for name in _PACKAGES},
    }


def readme(made: Mapping[str, Any]) -> str:
    """Write the model card of a finished run.

    Args:
        made: What `record` gave.

    Returns:
        Markdown, with the header that the hub reads.
    """
    settings, data, losses = made["settings"], made["data"], made["losses"]
    lora = settings.get("lora")
    header = [f"base_model: {_yaml(made['base']['model'])}", "pipeline_tag: text-generation"]
    header += ["library_name: " + ("transformers" if lora is None else "peft")]
    header += ["tags: [code-review, crscore]"]
    kind = "All weights" if lora is None else f"A LoRA adapter of rank {lora['rank']}"
    return "\n".join(
        [
            "---",
            *header,
            "---",
            "",
            "# Claims about code changes",
            "",
            f"{kind} for `{made['base']['identity']}`, fine-tuned to write what a code change "
            "does and what follows from it.",
            "",
            *_use(made, adapter=lora is not None),
            "",
            "## Data",
            "",
            f"- sha256 `{data['sha256']}`, {data['rows']:,} rows: {data['train']:,} learned from, "
            f"{data['held_out']:,} held out (no change is on both sides)",
            *_left_out(data["left_out"]),
            "",
            "## Losses",
            "",
            *_losses(losses),
            "",
            "## Settings",
            "",
            "```json",
            json.dumps(settings, indent=2),
            "```",
            "",
            "Versions: " + ", ".join(f"{k} {v}" for k, v in made["versions"].items()) + ".",
            "",
        ]
    )


def _use(made: Mapping[str, Any], *, adapter: bool) -> list[str]:
    prompt = made["prompt"]
    base, revision = made["base"]["model"], made["base"]["revision"]
    shots = "with" if prompt["few_shots"] else "without"
    command = "--claims vllm:/PATH/TO/THIS_FOLDER"
    if adapter:
        pinned = f" --model-revision {revision}" if revision else ""
        command = f"--claims {shlex.quote(f'vllm:{base}')}{pinned} --lora THIS_FOLDER"
    return [
        f"Ask it with the prompt `{prompt['name']}` (sha256 `{prompt['sha256'][:8]}`), {shots} "
        f"examples, answer as `{prompt['form']}`: that is what it was trained on.",
        "",
        "```sh",
        f"crscore score CHANGE.diff REVIEW.md {command}",
        "```",
    ]


def _left_out(counts: Mapping[str, int]) -> list[str]:
    words = {
        "too_long": "longer than the run allows",
        "several_parts": "about changes that are asked about in parts",
        "one_section": "without implications",
    }
    return [f"- left out: {count:,} {words[key]}" for key, count in counts.items() if count]


def _losses(losses: Mapping[str, Any]) -> list[str]:
    if losses["after"] is None:
        return ["Nothing was held out, so the last weights were kept and nothing was measured."]
    lines = [
        f"On held-out rows {losses['before']:.4f} before, {losses['after']:.4f} after "
        f"(step {losses['best_step']:,} of {losses['steps']:,}, the best one).",
        "",
        "| step | loss on held-out rows |",
        "|---|---|",
    ]
    measured = [entry for entry in losses["history"] if "eval_loss" in entry]
    return lines + [f"| {entry['step']:,} | {entry['eval_loss']:.4f} |" for entry in measured]


def _yaml(text: str) -> str:
    return json.dumps(text)  # a JSON string is a YAML string
