"""Log how good a bot's reviews are to MLflow: `python log_to_mlflow.py PAIRS.jsonl`.

PAIRS.jsonl has objects with `diff` and `review`. Needs `pip install 'crscore[pandas]' mlflow`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import mlflow

from crscore import Scorer, results_frame

NUMBERS = ["standing", "about", "importance", "relevance", "conciseness", "comprehensiveness"]


def main(path: str) -> None:
    rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
    table = results_frame(Scorer().score_many([(row["diff"], row["review"]) for row in rows]))
    with mlflow.start_run(run_name=Path(path).stem):
        # Runs compare where their signatures are equal.
        mlflow.log_params({"signature": table["signature"].iloc[0], "reviews": len(table)})
        medians = table[NUMBERS].median().dropna()
        mlflow.log_metrics({f"median_{name}": float(value) for name, value in medians.items()})
        mlflow.log_text(table.to_json(orient="records", lines=True), "reviews.jsonl")


if __name__ == "__main__":
    main(sys.argv[1])
