"""Compare structural claims with those of a language model.

    python benchmarks/claims_compared.py DATA [--folds 5]

DATA is the human study. Prints which share of GPT-4o's claims about a change some structural claim
matches, at the encoder's threshold for a model's claims; and for each kind of claims, Spearman's
correlation of relevance with human ratings on changes held out of the training.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean, median

from crscore import plugins, scorer, settings
from crscore.claims.answer import read_answer
from crscore.diff import parse
from crscore.scoring import cells, thresholds


def rows(data: Path) -> list[dict]:
    text = gzip.decompress(data.read_bytes()) if data.suffix == ".gz" else data.read_bytes()
    return [json.loads(line) for line in text.decode().splitlines() if line.strip()]


def read_change(row: dict):
    """Return the change with its full files, as `crscore validate` does."""
    change = parse.parse_diff(row["patch"], language=row["language"])
    path = change.files[0].path
    return parse.with_sources(change, {path: (row.get("old_source"), row.get("new_source"))})


def shares(recorded: list[dict]) -> list[float]:
    encoder = scorer.make_encoder(settings.Config())
    tau = thresholds.threshold_for(encoder.identity, "")
    generator = plugins.create("claims", "structural")
    shares = []
    for row in recorded:
        answer = read_answer(row["gpt4o_claims_raw"] or "")
        published = (*answer.claims, *answer.implications)
        (claims,) = generator.generate([read_change(row)])
        if not published or not claims.references:
            continue
        ours = encoder.encode([reference.encoded_text for reference in claims.references])
        theirs = encoder.encode(published)
        cosines = cells.cosine(theirs, ours)
        shares.append(float((cosines.max(axis=1) > tau).mean()))
    print(f"threshold {tau}, {len(shares)} changes with claims of both kinds")
    return shares


def correlation(data: Path, claims: str, folds: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "found.json"
        command = [
            sys.executable, "-m", "crscore", "validate", str(data), "--claims", claims,
            "--split", "grouped-cv", str(folds), "--no-attacks", "--no-baselines",
            "--format", "json", "-o", str(target),
        ]  # fmt: skip
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        result = json.loads(target.read_text("utf-8"))
    (row,) = [
        row
        for row in result["correlations"]
        if (row["metric"], row["slice"]) == (result["metric"], "pooled")
        and row["dimension"] == "relevance"
    ]
    return f"{row['spearman']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"


def to_claims(raw: str) -> list[dict[str, str]]:
    """Parse an answer into claims in the form that `replay` reads."""
    answer = read_answer(raw)
    kinds = (("claim", answer.claims), ("implication", answer.implications))
    return [{"text": text, "kind": kind} for kind, texts in kinds for text in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    asked = parser.parse_args()
    recorded = rows(asked.data)
    values = shares(recorded)
    print(
        f"GPT-4o claims that some structural claim matches, by change: mean {fmean(values):.3f}, "
        f"median {median(values):.3f}, all {sum(v == 1 for v in values)}, "
        f"none {sum(v == 0 for v in values)}"
    )
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "gpt4o.jsonl"
        lines = [
            {
                "sha256": hashlib.sha256(row["patch"].encode()).hexdigest(),
                "claims": to_claims(raw),
            }
            for row in recorded
            if (raw := row["gpt4o_claims_raw"])
        ]
        recording.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        for claims in ("recorded", f"replay:{recording}", "structural"):
            name = claims.replace(f"replay:{recording}", "gpt4o")
            print(f"{name:<22} {correlation(asked.data, claims, asked.folds)}", flush=True)


if __name__ == "__main__":
    main()
