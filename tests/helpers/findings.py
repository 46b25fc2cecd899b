"""Findings of the small study, scored for real with the test encoder."""

from pathlib import Path

from crscore import settings as config
from crscore.study import run, study
from crscore.study.results import Findings
from tests.helpers import study as studies

SETTINGS = config.override_settings(
    config.Config(), {"encoder": "hashing", "threshold": 0.3, "analyzers": "none"}
)


def made(
    folder: Path,
    rows: list[dict] | None = None,
    *,
    extra: tuple = (),
    settings: config.Config = SETTINGS,
    **options: object,
) -> Findings:
    path = studies.write(folder / "study.jsonl", studies.full_rows() if rows is None else rows)
    chosen = run.Options(**({"resamples": 20} | options))
    return run.run(study.read_study(path), settings, chosen, extra=extra)
