"""Compare CodeBLEU and RUBY with the values of "Out of the BLEU", people's grades and tests.

    python benchmarks/code_trees.py DATA_DIR [--programs 20]

DATA_DIR contains conala.jsonl.gz, humaneval-python.jsonl.gz and humaneval-java.jsonl.gz. Prints

- the rank correlation of both metrics, with the preset, with the authors' values for each snippet,
  also separately for outputs that Python can parse and for others;
- Kendall's tau with the mean grade, and with the tests of `--programs` different programs per task;
- how tau depends on the parts and weights of CodeBLEU;
- the CPU time per pair, without the first pair, and that of long code on a single line;
- values of other implementations, compared with those computed here.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.stats import spearmanr

from crscore.code import metrics
from crscore.code.metrics import codebleu
from crscore.code.samples import Sample
from crscore.code.syntax_tree import syntax_tree
from crscore.errors import InputError
from crscore_lab.code.correlation import kendall

NAMES = ("codebleu", "ruby")
PRESET = "out-of-the-bleu"
WEIGHTS = {
    "equal": (1, 1, 1, 1),
    ".1 .1 .4 .4": (1, 1, 4, 4),
    "n-grams": (1, 0, 0, 0),
    "words": (0, 1, 0, 0),
    "syntax": (0, 0, 1, 0),
    "without flow": (1, 1, 1, 0),
}
SIGN = (
    "public static int Sign ( double {0} ) "
    "{{ return ( {1} ) ( ( {0} == 0 ) ? 0 : ( {2} < {3} ) ? - 1 : 1 ) ; }}"
)
FIRST, SECOND, REFERENCE = (
    SIGN.format(*words)
    for words in (("d", "float", "c", "0.0"), ("c", "int", "c", "0"), ("d", "int", "d", "0"))
)
FOO = "def foo ( x ) :\n    return x"
KNOWN = (
    # Candidate, reference, language, part, the other implementation's value, its name, and why its
    # value differs.
    ("for x of", "for x in lst", "python", "words", 0.358, "Out of the BLEU"),
    (FIRST, REFERENCE, "java", "syntax", 11 / 19, "codebleu 0.7.0: inner nodes, each found or not"),
    (FIRST, REFERENCE, "java", "flow", 2 / 3, "codebleu 0.7.0: the definition counts, too"),
    (SECOND, REFERENCE, "java", "flow", 1.0, "codebleu 0.7.0"),
    (SECOND, REFERENCE, "java", "syntax", 1.0, "codebleu 0.7.0"),
    # The score of codebleu 0.7.0 differs, because it splits tokens at white space and counts a data
    # flow of 0 as 1.
    (
        "def bar ( y , x ) :\n    a = x * x\n    return a",
        FOO,
        "python",
        "score",
        0.36,
        "codebleu 0.7.0",
    ),
    (FOO + " * x", FOO.replace("foo", "bar"), "python", "score", 0.61, "codebleu 0.7.0"),
    (FOO.replace("foo", "bar"), FOO, "python", "score", 0.85, "codebleu 0.7.0"),
)


def rows(path: Path) -> list[dict]:
    """Read the rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def scores(name: str, samples: list[Sample], **options: str) -> np.ndarray:
    """Return the score of each sample."""
    metric = metrics.make(name, **options)
    return metric.sentence_scores(metric.statistics(samples))


def conala(data: Path) -> tuple[list[Sample], np.ndarray]:
    """Compare scores with the authors' values and with the grades; return samples and grades."""
    outputs = [(row, model) for row in rows(data / "conala.jsonl.gz") for model in row["outputs"]]
    samples = [
        Sample(
            candidate=row["outputs"][model],
            references=tuple(row["references"]),
            language="python",
            id=row["id"],
        )
        for row, model in outputs
    ]
    grades = np.array([fmean(row["grades"][model].values()) for row, model in outputs])
    trees = (syntax_tree(sample.candidate, "python", whole_file=True) for sample in samples)
    read = np.array([tree is not None and tree.valid for tree in trees])
    print(f"CoNaLa: {len(samples)} outputs, {read.sum()} parsed by Python")
    for name in NAMES:
        published = np.array([row["published"][model][name] for row, model in outputs])
        preset = scores(name, samples, preset=PRESET)
        rho = [spearmanr(preset[mask], published[mask])[0] for mask in (read | True, read, ~read)]
        off = np.abs(preset - published)
        print(
            f"{name:9} preset and authors' values: Spearman {rho[0]:.4f}"
            f" (parsed {rho[1]:.4f}, others {rho[2]:.4f}); equal {np.mean(off < 0.0006):.3f},"
            f" within 0.02 {np.mean(off < 0.02):.3f}"
        )
        problems = [sample.id for sample in samples]
        taus = [
            kendall(column, grades, problems)
            for column in (published, preset, scores(name, samples))
        ]
        print(
            "          Kendall, grades: authors {:.4f} preset {:.4f} default {:.4f}".format(*taus)
        )
    return samples, grades


def humaneval(data: Path, language: str, programs: int) -> tuple[list[Sample], np.ndarray]:
    """Return some different programs of each task, and 1 for each that passes, 0 otherwise."""
    samples, passed = [], []
    for row in rows(data / f"humaneval-{language}.jsonl.gz"):
        different = {code: status == "OK" for _, code, status in row["completions"]}
        for code in sorted(different)[:: max(1, len(different) // programs)][:programs]:
            samples.append(
                Sample(
                    candidate=code,
                    references=(row["reference"],),
                    language=language,
                    id=row["task"],
                )
            )
            passed.append(float(different[code]))
    return samples, np.array(passed)


def compare_with_tests(language: str, samples: list[Sample], passed: np.ndarray) -> None:
    """Print how scores agree with the tests, and their CPU time."""
    for name in NAMES:
        metric, values, seconds = metrics.make(name), [], []
        for sample in samples:
            start = time.process_time()
            values.append(metric.sentence_scores(metric.statistics([sample]))[0])
            seconds.append(time.process_time() - start)
        tau = kendall(np.array(values), passed, [sample.id for sample in samples])
        milliseconds = 1000 * np.array(seconds[1:])
        print(
            f"HumanEval {language} {name:9} Kendall {tau:.4f}; CPU ms per pair: mean"
            f" {milliseconds.mean():.1f}, 99th percentile {np.percentile(milliseconds, 99):.1f},"
            f" longest {milliseconds.max():.1f}"
        )


def compare_weights(title: str, samples: list[Sample], grades: np.ndarray) -> None:
    """Print Kendall's tau by parts and weights of CodeBLEU, without and with the preset."""
    for preset in (None, PRESET):
        parts_by_sample = [
            [
                codebleu.compute_parts(s.candidate, reference, s.language, preset)
                for reference in s.references
            ]
            for s in samples
            if s.candidate.strip()
        ]
        has_code = np.array([bool(sample.candidate.strip()) for sample in samples])
        problems = [sample.id for sample in samples if sample.candidate.strip()]
        taus = []
        for name, weights in WEIGHTS.items():
            values = np.array(
                [
                    max(candidate_parts.combine(weights) for candidate_parts in parts)
                    for parts in parts_by_sample
                ]
            )
            taus.append(f"{name} {kendall(values, grades[has_code], problems):.3f}")
        print(f"parts, {preset or 'default':15} {title:7}", "; ".join(taus))


def measure_long_lines() -> None:
    """Print score and CPU time of long code on a single line."""
    for size in (50_000, 150_000, 1_000_000):
        for unit in ("a+", "(", "f(a,", "'"):
            text = unit * (size // len(unit))
            sample = Sample(candidate=text, references=("x = f(y)", text + "1"), language="python")
            for name in NAMES:
                start = time.process_time()
                try:
                    shown_score = f"{scores(name, [sample])[0]:.3f}"
                except InputError as exc:
                    shown_score = str(exc)
                seconds = time.process_time() - start
                print(
                    f"{size:>9,} characters of {unit!r:6} {name:9} {seconds:6.2f} s: {shown_score}"
                )


def main() -> None:
    """Print all comparisons."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--programs", type=int, default=20)
    options = parser.parse_args()
    compare_weights("CoNaLa", *conala(options.data))
    for language in ("python", "java"):
        samples, passed = humaneval(options.data, language, options.programs)
        compare_with_tests(language, samples, passed)
        compare_weights(language, samples, passed)
    for candidate, reference, language, part, value, source in KNOWN:
        compared = codebleu.compute_parts(candidate, reference, language)
        computed = (
            compared.combine(codebleu.EQUAL_WEIGHTS) if part == "score" else getattr(compared, part)
        )
        print(f"known: {part:6} {computed:.4f}, other implementation {value:.4f} ({source})")
    measure_long_lines()


if __name__ == "__main__":
    main()
