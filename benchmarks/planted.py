"""Insert defects into commits, and measure how often a claim of a consequence names them.

    python benchmarks/planted.py COMMITS [--seed 0] [--count 200] [--show 20] [--repositories a,b]

COMMITS is a file of commits as for `titles.py`, with full files. A defect is an edit of the new
version by a pattern of `planted.toml`, in lines that the commit does not change; it has to be
inside a function, unless it changes a limit or a default. The claims are generated for the commit
with the defect. A consequence names the defect if it is about a line that only the defect changes,
and if the commit without the defect does not have the same consequence.

Prints, for each kind of defect, the number of defects and the shares of them that are named by any
consequence, by a counted one, and by one among the first three counted references; then the shares
with any reference and with a counted one on these lines. `--show` prints defects that are not
named, `--raised` defects that are, with their references (`!`: counted).
"""

import argparse
import difflib
import gzip
import json
import random
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from crscore.claims.structural import plugin
from crscore.diff import languages, parse
from crscore.records import Diff, LineKind, PseudoReference, ReferenceKind, Side
from crscore.scoring.cells import select_references
from crscore.syntax import grammars, outliner
from crscore.syntax.outline import Kind

TEST = re.compile(r"(?i)(?:^|[/._-])(?:tests?|specs?|e2e|\w+specs)(?:[/._-]|$)|(?-i:Tests?\.\w+$)")
ASIDE = re.compile(r"(?i)(?:^|[/._-])(?:docs?|examples?|samples?|bench\w*|dist|pb|min)[/._]")
TRUTH = {"true": "false", "false": "true", "True": "False", "False": "True"}
TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


class Edit(NamedTuple):
    row: dict
    path: str
    match: re.Match[str]
    text: str
    line: int

    def lines(self, text: str) -> set[tuple[Side, int]]:
        return {(Side.NEW, self.line + i) for i, _ in enumerate(text.splitlines())}


def find_edits(rows: list[dict], kind: str, chance: random.Random) -> Iterator[Edit]:
    """Yield one possible edit of each commit that has any, in random order."""
    for row in chance.sample(rows, len(rows)):
        possible = []
        for path, (old, new) in row["files"].items():
            language = grammars.language_of(languages.language_of(path))
            is_code = old and new and language and not ASIDE.search(path)
            is_fit = is_code and bool(TEST.search(path)) is (kind == "assertion removed")
            for form, to in TABLE["edits"][kind] if is_fit else ():
                pattern = re.sub("<([A-Z]+)>", lambda name: TABLE["parts"][name[1]], form)
                for match in re.finditer(pattern, new, re.MULTILINE):
                    text = match[1] + TRUTH[match[2]] if to == "TRUTH" else match.expand(to)
                    text = text.replace("EXTRA", TABLE["extra"].get(language.name, "extra"))
                    if text != match[0] and match[0] in old:
                        line = new.count("\n", 0, match.start()) + 1
                        possible.append(Edit(row, path, match, text, line))
        yield from chance.sample(possible, min(1, len(possible)))


def is_sound(edit: Edit, kind: str, mutant: str) -> bool:
    """Return whether an edit changes code in a function and adds no syntax error."""
    language = grammars.language_of(languages.language_of(edit.path))
    before, after = outlines = [
        outliner.read_outline(language, text) for text in (edit.match.string, mutant)
    ]
    old, new = (Counter(text for unit in o.units for _, text in unit.tokens) for o in outlines)
    strings = [bool(re.match(r"\w{0,2}[\"'`]", text)) for text in (old - new) + (new - old)]
    unit = before.units[before.owners([edit.line])[edit.line]]
    is_api = unit.public and before.units[unit.parent].kind is not Kind.FUNCTION
    is_value, is_swap = kind in {"limit changed", "default changed"}, kind == "statements swapped"
    return (
        after.errors <= before.errors
        and (is_value or unit.kind in {Kind.FUNCTION, Kind.TEST})
        and (is_api or kind not in {"function renamed", "parameter added"})
        # It changes tokens other than strings; otherwise it may be in a comment or in prose.
        and (is_swap or (bool(strings) and (is_value or kind == "key changed" or not all(strings))))
    )


def change_of(files: dict[str, list[str | None]]) -> Diff:
    pieces = []
    for path, (old, new) in files.items():
        sides = [f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null"]
        texts = [re.findall(r"[^\n]*\n|[^\n]+", text or "") for text in (old, new)]
        lines = list(difflib.unified_diff(*texts, *sides))
        end = "\n\\ No newline at end of file\n"
        pieces += [f"diff --git a/{path} b/{path}\n"] * bool(lines)
        pieces += [line if line.endswith("\n") else line + end for line in lines]
    return parse.with_sources(parse.parse_diff("".join(pieces)), files)


def changed(diff: Diff, path: str) -> set[tuple[Side, int]]:
    files = [file for file in diff.files if file.path == path]
    lines = [line for file in files for line in file.lines(LineKind.ADDED, LineKind.REMOVED)]
    return {(Side.OLD, line.old) if line.new is None else (Side.NEW, line.new) for line in lines}


def places(reference: PseudoReference, path: str) -> Iterator[tuple[Side, int]]:
    for span in reference.spans:
        yield from ((span.side, n) for n in range(span.start, span.end + 1) if span.path == path)


def plant(edit: Edit, kind: str) -> tuple[list[bool], str] | None:
    """Insert a defect; return its row of the table and the text to show, or None if unsuitable."""
    files, path, match = edit.row["files"], edit.path, edit.match
    before, after = match.string[: match.start()], match.string[match.end() :]
    start, end = before.rpartition("\n")[2], after.partition("\n")[0] * (match[0][-1] != "\n")
    left, right = start + match[0] + end, start + edit.text + end
    mutant = before + edit.text + after
    if not is_sound(edit, kind, mutant):
        return None
    diffs = [change_of(files), change_of({**files, path: [files[path][0], mutant]})]
    was, now = (changed(diff, path) for diff in diffs)
    lines = now & edit.lines(right) | {place for place in now - was if place[0] is Side.OLD}
    # The edited lines have to be unchanged by the commit. Of 20 lines or more, most are other lines
    # that the diff now aligns in another way.
    if was & edit.lines(left) or not 0 < len(lines) < 20:
        return None
    without, claims = plugin.create().generate(diffs)
    selected = select_references(claims.references, limit=12)
    on_lines = [each for each in selected if lines & set(places(each, path))]
    said = {each.text for each in without.references}
    named = [e for e in on_lines if e.kind is ReferenceKind.IMPLICATION and e.text not in said]
    pieces = [f"\n{kind}: {edit.row['repository']} {edit.row['commit'][:9]} {path}:{edit.line}"]
    pieces += [f"  -{line}"[:110] for line in left.splitlines()]
    pieces += [f"  +{line}"[:110] for line in right.splitlines()]
    for each in named or on_lines[:1]:
        pieces += [f"  {'!' if each.counted else '?'} {each.weight:.2f} {each.text[:200]}"]
    counted = [each for each in selected if each.counted]
    shares = [[each for each in named if each in some] for some in (named, counted, counted[:3])]
    shares += [on_lines, [each for each in on_lines if each in counted]]
    return [bool(share) for share in shares], "\n".join(pieces)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    for name, number in {"seed": 0, "count": 200, "show": 20, "raised": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--repositories", type=lambda text: text.split(","))
    asked = parser.parse_args()
    rows = [json.loads(line) for line in gzip.decompress(asked.data.read_bytes()).splitlines()]
    rows = [row for row in rows if row["repository"] in (asked.repositories or row["repository"])]
    planted = {}
    for kind in TABLE["edits"]:
        chance = random.Random(f"{asked.seed} {kind}")
        tried = (plant(edit, kind) for edit in find_edits(rows, kind, chance))
        planted[kind] = [*islice(filter(None, tried), -(-asked.count // len(TABLE["edits"])))]
    everything = [item for items in planted.values() for item in items]
    print(f"{'kind':22}    n    named  counted  first 3  any reference, a counted one")
    for kind, items in {**planted, "all": everything}.items():
        shares = [fmean(column) for column in zip(*(row for row, _ in items), strict=True)]
        print(f"{kind:22} {len(items):4}  " + "  ".join(f"{share:7.2f}" for share in shares))
    random.Random(asked.seed).shuffle(everything)
    for limit, is_named in ((asked.show, False), (asked.raised, True)):
        print("\n".join([text for row, text in everything if row[0] is is_named][:limit]))


if __name__ == "__main__":
    main()
