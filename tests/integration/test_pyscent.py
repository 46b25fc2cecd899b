"""pyscent as its users and the analyzer run it: a process of its own, in a folder of its own."""

import ast
import json
import os
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from crscore.static_analysis.analyzer import builtin_folder, read_analyzer
from crscore.static_analysis.formats import read_report as read_report_as
from crscore.static_analysis.pyscent import analyze, cohesion, read_code
from crscore.static_analysis.reports import RawFinding, RawReport

SMELLY = """\
def f(a, b, c, d, e, g):
    try:
        return a
    except:
        pass
"""
PRAGMAS = """\
# pylint: skip-file
# noqa
{}
# pylint: disable=all
# radon: ignore
"""
ODD_NAMES = ("a b.py", "ä%20.py", "x;y.py", "-z.py")
COHESIVE = (
    "class Pair:\n    def left(self): return self.a\n    def both(self): return self.a, self.b\n"
)
CLASSES = {
    "shares all": COHESIVE,
    "shares some": """\
class Basket:
    limit = 3
    def __init__(self):
        self.items = []
        self.owner = None
    def add(self, item):
        if len(self.items) < self.limit:
            self.items.append(item)
    def give(self, owner):
        self.owner = owner
    @staticmethod
    def price(item):
        return item
    @property
    def size(self):
        return len(self.items)
    def is_full(self):
        return self.size == self.limit
""",
    "shares little": """\
class Drawer:
    def one(self): return self.a
    def two(self): return self.b
    def three(self): return self.c
    def four(self): return self.d
""",
    "uses nothing": "class Idle:\n    limit = 3\n    def one(self): return 1\n",
    "calls others": """\
class Caller:
    def __init__(self):
        self.count = 0
        self.last = None
    def step(self):
        self.count += 1
        self.tell()
    def tell(self):
        return self.last
""",
    "has functions inside": """\
class Maker:
    def make(self):
        def inner():
            return self.a
        return inner, lambda: self.b
    def take(self):
        return self.a
""",
}


def pyscent(*arguments: str, folder: Path, python: str = sys.executable):
    return subprocess.run(
        [python, "-I", "-m", "crscore.static_analysis.pyscent", *arguments],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def read_report(done: subprocess.CompletedProcess[str]) -> RawReport:
    """Read the output as the analyzer's manifest says."""
    manifest = read_analyzer(builtin_folder() / "pyscent", shipped=True).manifest
    return read_report_as(done.stdout.encode(), manifest.output, tool="pyscent")


def read_findings(done: subprocess.CompletedProcess[str]) -> tuple[RawFinding, ...]:
    return read_report(done).findings


def test_a_clean_file_ends_with_0(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    done = pyscent("a.py", folder=tmp_path)
    assert (done.returncode, read_findings(done), done.stderr) == (0, (), "")


def test_smells_end_with_1(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(SMELLY)
    done = pyscent("a.py", folder=tmp_path)
    assert done.returncode == 1
    assert [
        (finding.line, finding.level, finding.rule, finding.message)
        for finding in read_findings(done)
    ] == [
        (
            1,
            "note",
            "long-parameter-list",
            "`f` takes 6 parameters, more than 5, so a call is easy to get wrong.",
        ),
        (
            4,
            "warning",
            "useless-exception",
            "The bare `except:` in `f` swallows every error and even Ctrl-C without a trace;"
            " catch only what is expected and handle it.",
        ),
    ]


@pytest.mark.parametrize("arguments", [[], ["--no-such", "a.py"]])
def test_wrong_usage_ends_with_2(tmp_path: Path, arguments: list[str]) -> None:
    assert pyscent(*arguments, folder=tmp_path).returncode == 2


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Run pyscent once on files of every kind, as a start costs most; return folder and process."""
    folder = tmp_path_factory.mktemp("mixed")
    files = {
        "bad.py": "def f(:\n",
        "deep.py": "a = " + "+".join(["b"] * 2000) + "\n",
        "good.py": "import g\n" + SMELLY + COHESIVE + "class B:\n    a = " + "g.f()," * 6,
        # pylint's own search for pragmas takes minutes on these comments.
        "comments.py": "a = 1 " + "# a " * 25_000 + "\n# " + "#pylint " * 12_500 + "\n" + SMELLY,
        "sizes.py": "def f(a):\n" + "    if a: a()\n" * 26,
        **dict.fromkeys(ODD_NAMES, SMELLY),
    }
    hook = f"open({str(folder / 'canary')!r}, 'w').close()"
    settings = {
        "pyproject.toml": f'[tool.pylint.main]\ninit-hook = "{hook}"\nmax-args = 99\n',
        ".pylintrc": f"[MAIN]\ninit-hook={hook}\nload-plugins=evil\n",
        **dict.fromkeys(("evil.py", "g.py", "pylint.py", "radon.py"), hook),
    }
    for name, text in {**files, **settings}.items():
        (folder / name).write_text(text)
    (folder / ".cache" / "pylint").mkdir(parents=True)  # where pylint tells of its crashes
    return folder, pyscent("--", *files, folder=folder)


def test_a_file_that_does_not_parse_ends_with_3_and_silences_no_other(mixed) -> None:
    done = mixed[1]
    report = read_report(done)
    assert done.returncode == 3
    assert report.unparsed == ("bad.py", "deep.py")
    assert {"good.py", "comments.py"} < {finding.path for finding in report.findings}
    reasons = [file["unparsed"] for file in json.loads(done.stdout)["files"] if file["unparsed"]]
    assert reasons == ["TokenError", "pylint cannot read it"]
    assert {finding.rule for finding in report.findings} == {
        "long-parameter-list",
        "shotgun-surgery",
        "useless-exception",
        "complex-code",
    }


def test_settings_beside_the_code_are_not_read_and_nothing_is_left_behind(mixed) -> None:
    names = {file.name for file in mixed[0].rglob("*") if file.is_file()}
    own_names = {"bad.py", "deep.py", "good.py", "comments.py", "sizes.py", *ODD_NAMES}
    hooks = {"pyproject.toml", ".pylintrc", "evil.py", "g.py", "pylint.py", "radon.py"}
    assert names == own_names | hooks


def test_odd_names_are_files_like_others(mixed) -> None:
    assert {finding.path for finding in read_findings(mixed[1])} >= set(ODD_NAMES)


def test_the_sizes_of_one_function_are_one_finding(mixed) -> None:
    (merged,) = [row for row in read_findings(mixed[1]) if row.path == "sizes.py"]
    assert (merged.rule, merged.level) == ("complex-code", "warning")
    assert "53 statements, 26 branches and 27 independent paths" in merged.message


def test_missing_pylint_ends_with_4_and_its_name(tmp_path: Path) -> None:
    # A bare interpreter that sees crscore and no installed package.
    root = Path(__file__).parents[2]
    program = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "from crscore.static_analysis.pyscent import main; sys.exit(main(['a.py']))"
    )
    (tmp_path / "a.py").write_text("a = 1\n")
    bare = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    done = subprocess.run(
        [str(bare), "-I", "-S", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (4, "")
    assert "pylint is not installed" in done.stderr


def test_version_names_pylint_and_radon(tmp_path: Path) -> None:
    done = pyscent("--version", folder=tmp_path)
    expected = f"pyscent 1.2+pylint{version('pylint')}.radon{version('radon')}\n"
    assert (done.returncode, done.stdout) == (0, expected)


def test_pragmas_silence_nothing_and_a_file_given_twice_counts_once(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(f"\n\n{SMELLY}\n")
    (tmp_path / "pragma.py").write_text(PRAGMAS.format(SMELLY))
    inline = SMELLY.replace(":\n", ":  # pylint: disable=all # noqa # nosec\n")
    (tmp_path / "inline.py").write_text(f"\n\n{inline}")
    files = [str(tmp_path / f"{name}.py") for name in ("plain", "pragma", "inline", "plain")]
    own_code = sys.modules["crscore.static_analysis.pyscent"].__file__ or ""
    plain, pragma, inlined, own_report = analyze([*files, own_code])
    assert len(plain.smells) == 2
    assert plain.smells == pragma.smells == inlined.smells
    assert own_report.unparsed is None


@pytest.mark.parametrize("case", CLASSES)
def test_cohesion_is_that_of_the_cohesion_package(tmp_path: Path, case: str) -> None:
    file = tmp_path / "a.py"
    file.write_text(CLASSES[case])
    done = subprocess.run(
        [sys.executable, "-I", "-m", "cohesion", "--files", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    match = re.search(r"Total: ([\d.]+)%", done.stdout)
    assert match is not None
    (node,) = ast.parse(read_code(str(file))).body
    assert cohesion(node) == pytest.approx(float(match[1]), abs=0.01)
