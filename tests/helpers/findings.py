"""Result of the small study, scored for real with the test encoder."""

from pathlib import Path

from crscore.settings import Config, override_settings
from crscore_lab.study import run
from crscore_lab.study.data import study
from crscore_lab.study.measures.measurements import ExtraMetrics, Measurements
from crscore_lab.study.results import ValidationResult
from tests.helpers import study as studies

SETTINGS = override_settings(
    Config(), {"encoder": "hashing", "threshold": 0.3, "analyzers": "none"}
)


def made(
    folder: Path,
    rows: list[dict] | None = None,
    *,
    extra: tuple = (),
    settings: Config = SETTINGS,
    **options: object,
) -> ValidationResult:
    path = studies.write(folder / "study.jsonl", studies.full_rows() if rows is None else rows)
    chosen = {"resamples": 20, "seed": 0} | options
    return run.run(study.read_study(path), settings, extra=extra, **chosen)


def made_with_values(
    folder: Path, rows: list[dict] | None = None, *, extra: tuple = (), **options: object
) -> tuple[ValidationResult, Measurements]:
    """The result, and every metric's values that it was made of."""
    seen: list[Measurements] = []

    def look(measured: Measurements, _: object) -> ExtraMetrics:
        seen.append(measured)
        return ExtraMetrics(())

    folder_of_analyzer = made(folder, rows, extra=(*extra, look), **options)
    return folder_of_analyzer, seen[0]
