"""Signals that comments were acted on, measured on planted pull requests.

    python benchmarks/audit_signals.py [--cases 300] [--seed 1] [--workers 1] [--wrong]

Makes one pull request a case in a real bare repository (`git fast-import`), with files in four
languages, fills a store with the rows that a synchronisation would write, runs `find_signals`, and
prints precision, recall and the share of unknown values a signal, and what went wrong a kind of
case. What is true comes from what the case was made to be: its author edits the line, or does not.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path

from crscore.audit.engines import make_engine
from crscore.audit.signals import OF_TREES, TITLES, Signal
from crscore.audit.signals.run import find_signals
from crscore.audit.store.database import Store
from crscore.audit.store.rows import (
    Comment,
    CommentObservation,
    Pull,
    Revision,
    SignalRow,
    ThreadObservation,
    comment_key,
)
from crscore.hosts.records import RemarkKind

MEASURED = sorted(OF_TREES)
NIGHT = "2026-03-09"
COMMENT_AT = "2026-03-02T12:00:00Z"
LATER = ("2026-03-03T12:00:00Z", "2026-03-04T12:00:00Z", "2026-03-05T12:00:00Z")
MESSAGES = (
    ("Work on it", False),
    ("Show the review page", False),
    ("Fix how an address is parsed", False),
    ("Fix a leak\n\nCo-authored-by: Claude <c@example.org>", False),
    ("Address review comments", True),
    ("Fix what otter found", True),
    ("Fix https://host.example/o/r/pull/1#discussion_r{number}", True),
)
"""Messages of later commits, and whether they refer to the review."""
RESOLVED = (
    (None, None),
    ("linus", Signal.RESOLVED_BY_AUTHOR),
    ("grace", Signal.RESOLVED_BY_PERSON),
    ("otter", Signal.RESOLVED_BY_BOT),
)
CLAIMS = (
    "",
    "Is it addressed?",
    "✅ Addressed in commit abc1234",
    "> ✅ Addressed in commit abc1234",
)
NAMES = (
    "order", "invoice", "account", "session", "ticket", "parcel", "route", "sensor", "ledger",
    "token", "profile", "bucket", "report", "device", "cursor", "worker", "region", "policy",
)  # fmt: skip
VERBS = ("load", "merge", "check", "send", "count", "close", "rank", "split", "store", "parse")
FUNCTIONS = {
    "py": (
        """\
def {verb}_{name}(items, limit={n}):
    found = []
    for item in items:
        if item.{name} is None:
            continue
        value = lookup(item.{name}, "{other}", {n})
        if value > limit:
            found.append(value)
    return found
""",
        """\
def {verb}_{name}_by_{other}(client, {name}_id):
    response = client.get("/{name}/" + {name}_id, {n})
    if response.status != 200:
        raise ValueError("{name} is missing")
    data = response.json()
    total = data["{other}"] * {n}
    return normalise(total, data["unit"])
""",
        """\
class {Name}{Verb}er:
    def __init__(self, {other}, size={n}):
        self.{other} = {other}
        self.size = size

    def {verb}(self, {name}):
        key = ({name}.id, self.{other})
        if key in self.cache:
            return self.cache[key]
        self.cache[key] = compute({name}, self.size)
        return self.cache[key]
""",
    ),
    "go": (
        """\
func {Verb}{Name}(ctx context.Context, id string) (*{Name}, error) {{
	row := db.QueryRow(ctx, "select * from {name} where id = $1", id)
	var found {Name}
	if err := row.Scan(&found.ID, &found.{Other}); err != nil {{
		return nil, err
	}}
	if found.{Other} > {n} {{
		found.{Other} = clamp(found.{Other}, {n})
	}}
	return &found, nil
}}
""",
        """\
func (s *{Name}Store) {Verb}{Other}(list []{Other}) int {{
	total := 0
	for i := 0; i < len(list); i++ {{
		if list[i].Skip {{
			continue
		}}
		total += list[i].Weight(s.factor, {n})
	}}
	return total
}}
""",
    ),
    "ts": (
        """\
export async function {verb}{Name}({name}: {Name}, {other}: number): Promise<number> {{
  const url = `/api/{name}/${{{name}.id}}`;
  const answer = await fetch(url, {{ method: 'POST', timeout: {n} }});
  if (!answer.ok) {{
    throw new Error('{name} failed');
  }}
  const body = await answer.json();
  return body.{other} + {other} * {n};
}}
""",
        """\
export class {Name}{Other}List {{
  private items: {Name}[] = [];

  {verb}(item: {Name}): void {{
    if (this.items.length > {n}) {{
      this.items.shift();
    }}
    this.items.push(item);
    this.notify('{other}', item.id);
  }}
}}
""",
    ),
    "java": (
        """\
    public List<{Name}> {verb}{Name}s(String {other}, int limit) {{
        List<{Name}> result = new ArrayList<>();
        for ({Name} one : repository.findAll({other}, {n})) {{
            if (one.get{Other}() == null) {{
                continue;
            }}
            result.add(convert(one, limit));
        }}
        return result;
    }}
""",
        """\
    private int {verb}{Other}({Name} {name}) {{
        int total = {name}.size() * {n};
        try {{
            total += service.fetch({name}.getId(), "{other}");
        }} catch (IOException e) {{
            log.warn("{name} failed", e);
        }}
        return total;
    }}
""",
    ),
}


@dataclass(eq=False)
class Line:
    """Line of a file that keeps its identity through edits."""

    text: str


def function(rng, language) -> list[Line]:
    name, other_run = rng.sample(NAMES, 2)
    verb = rng.choice(VERBS)
    words = {"name": name, "other": other_run, "verb": verb, "n": rng.randint(2, 900)}
    words |= {key.title(): value.title() for key, value in words.items() if key != "n"}
    text = rng.choice(FUNCTIONS[language]).format(**words)
    return [Line(line) for line in text.splitlines()]


def source(rng, language, functions) -> list[Line]:
    lines = [
        Line(f"{'#' if language == 'py' else '//'} Part {rng.randint(100, 999)} of the service")
    ]
    for _ in range(functions):
        lines += [Line(""), *function(rng, language)]
    return lines


def edited(rng, text) -> str:
    """Return a line with a changed meaning."""
    ways = (
        (r"(?<![\w\"])(\d+)(?!\w)", lambda m: str(int(m[1]) + rng.randint(1, 50))),
        (r"(\w)\)(?=\W*$)", lambda m: f"{m[1]}, {rng.choice(NAMES)}Option)"),
        (r" > ", lambda _: " >= "),
        (r" < ", lambda _: " <= "),
        (r"\breturn (\w)", lambda m: f"return safe_{m[1]}"),
        (r" = (\w)", lambda m: f" = checked.{m[1]}"),
        (r" := (\w)", lambda m: f" := checked.{m[1]}"),
        (r"\.(\w+)\(", lambda m: f".{m[1]}Strict("),
    )
    for pattern, change in rng.sample(ways, len(ways)):
        new = re.sub(pattern, change, text, count=1)
        if new != text:
            return new
    indent = text[: len(text) - len(text.lstrip())]
    return f"{indent}handled_{rng.choice(NAMES)}({rng.randint(1, 99)})"


def indent_of(line) -> str:
    return line.text[: len(line.text) - len(line.text.lstrip())]


def statement(rng, line) -> Line:
    """Return a new line for the place before another."""
    call = f"{rng.choice(VERBS)}_{rng.choice(NAMES)}_{rng.randint(10, 99)}"
    return Line(f"{indent_of(line)}{call}({rng.choice(NAMES)})")


def replace(lines, old, new) -> None:
    at = lines.index(old[0])
    lines[at : at + len(old)] = new


def reformat(rng, line) -> list[Line]:
    text, indent = line.text, indent_of(line)
    call = re.fullmatch(r"(\s*\S.*?\w\()([^()]+)(\)[;,]?)", text)
    if call and rng.random() < 0.6:
        arguments = [item.strip() for item in call[2].split(",")]
        commas = [",", "," if rng.random() < 0.5 else ""]
        inner = [
            Line(f"{indent}    {item}{commas[at == len(arguments) - 1]}")
            for at, item in enumerate(arguments)
        ]
        return [Line(call[1]), *inner, Line(indent + call[3])]
    ways = [
        lambda: f"  {text}",
        lambda: re.sub(r"(?<=\S) (=|\+|>|==) ", r"\1", text),
        lambda: text.replace('"', "'") if "'" not in text else text.replace("'", '"'),
        lambda: text.replace(", ", ",  "),
    ]
    new = rng.choice(ways)()
    return [Line(new if new != text else f"    {text}")]


def commentable(lines) -> list[int]:
    return [at for at, line in enumerate(lines) if len(re.findall(r"\w+", line.text)) > 1]


def choose(rng, lines, most=3) -> list[Line]:
    """Choose one line, or a few that follow each other, of some meaning."""
    start = rng.choice(commentable(lines))
    count = rng.choice((1, 1, 1, 2, most))
    chosen = lines[start : start + count]
    while not re.search(r"\w", chosen[-1].text):
        chosen.pop()
    return chosen


class History:
    """Commits for `git fast-import`; a commit is its number until they are written."""

    def __init__(self, git_dir) -> None:
        self.git_dir, self.count, self._stream = git_dir, 0, []

    def commit(self, files, parents, message="Change") -> int:
        self.count += 1
        add, data = self._stream.append, message.encode()
        add(b"commit refs/made/%d\nmark :%d\n" % (self.count, self.count))
        add(b"committer A <a@example.org> %d +0000\n" % (1_770_000_000 + self.count))
        add(b"data %d\n%s\n" % (len(data), data))
        for at, parent in enumerate(parents):
            add(b"%s :%d\n" % (b"merge" if at else b"from", parent))
        add(b"deleteall\n")
        for path, lines in sorted(files.items()):
            text = "".join(f"{line.text}\n" for line in lines).encode()
            add(b"M 644 inline %s\ndata %d\n%s\n" % (path.encode(), len(text), text))
        return self.count

    def write(self) -> dict[int, str]:
        """Make the repository; return the name of each commit."""
        git("init", "-q", "--bare", self.git_dir)
        marks = self.git_dir / "made"
        command = ("-C", self.git_dir, "fast-import", "--quiet", f"--export-marks={marks}")
        git(*command, input_text=b"".join(self._stream))
        pairs = (line.split() for line in marks.read_text().splitlines())
        return {int(mark[1:]): name for mark, name in pairs}


def git(*arguments, input_text=None) -> None:
    subprocess.run(["git", *map(str, arguments)], input=input_text, check=True)


class Case:
    """Pull request that is being made. A line that the base branch has too is one object, so an
    edit of its text is a change of the base branch that a rebase brings.
    """

    def __init__(self, history, rng, kind, number) -> None:
        self.history, self.rng, self.kind, self.number = history, rng, kind, number
        self.language = rng.choice(sorted(FUNCTIONS))
        self.path = f"src/{rng.choice(NAMES)}_{number}.{self.language}"
        self.others = [f"src/other_{number}_{at}.{self.language}" for at in range(2)]
        self.base_files = {
            path: source(rng, self.language, rng.randint(3, 8))
            for path in (self.path, *self.others)
        }
        self.base = history.commit(self.base_files, [])
        self.files = {path: list(lines) for path, lines in self.base_files.items()}
        self.suggestion = self.hunk = None
        self.side, self.later, self.lost, self.merge = "new", [], set(), None
        self.truth: dict[Signal, bool] = {}
        talk = random.Random(f"{kind} {number}")
        self.message, self.is_named = talk.choice(MESSAGES)
        self.message = self.message.format(number=number)
        self.resolved_by, self.resolution = talk.choice(RESOLVED)
        self.up, self.down = talk.choice((0, 0, 1)), talk.choice((0, 0, 2))
        self.claim, self.answer = talk.choice(CLAIMS), talk.choice(CLAIMS)
        self.open()

    @property
    def file(self) -> list[Line]:
        return self.files[self.path]

    def open(self) -> None:
        """Make the pull request's change, and comment on some of its lines."""
        rng = self.rng
        starts = [at for at, line in enumerate(self.file) if not line.text]
        if rng.random() < 0.6:
            self.own = [Line(""), *function(rng, self.language)]
            at = rng.choice(starts)
            self.file[at:at] = self.own
            del self.own[0]
        else:
            at = rng.choice(starts) + rng.randint(2, 3)
            old = [line for line in self.file[at : at + rng.randint(3, 5)] if line.text]
            self.own = [Line(edited(rng, line.text)) for line in old]
            replace(self.file, old, self.own)
        other_run = self.files[self.others[0]]
        line = rng.choice([line for line in other_run if line.text])
        replace(other_run, [line], [Line(edited(rng, line.text))])
        self.commit = self.head = self.history.commit(self.files, [self.base])
        self.comment_on(choose(rng, self.own))

    def comment_on(self, lines) -> None:
        self.lines = lines
        start = self.file.index(lines[0])
        self.span = start + 1, start + len(lines)
        first = max(0, min(start, self.file.index(self.own[0])) - 3)
        mine = {id(line) for line in self.own}
        text_lines = [
            f"{'+' if id(item) in mine else ' '}{item.text}"
            for item in self.file[first : self.span[1]]
        ]
        self.hunk = "\n".join([f"@@ -{first + 1},3 +{first + 1},{len(text_lines)} @@", *text_lines])
        self.path_then = self.path

    def fix(self) -> None:
        """Act on the comment: edit, replace or remove at least one of its lines."""
        line = self.rng.choice([line for line in self.lines if re.search(r"\w", line.text)])
        way = self.rng.random()
        new = [Line(edited(self.rng, line.text))] if way < 0.85 else []
        if 0.6 < way < 0.85:
            new.insert(self.rng.randint(0, 1), statement(self.rng, line))
        replace(self.file, [line], new)

    def maybe_fix(self) -> bool:
        """Fix, or work elsewhere in the file or in another; return whether lines changed."""
        way = self.rng.random()
        if way < 0.5:
            self.fix()
        elif way < 0.75:
            self.edit_elsewhere(self.file)
        else:
            self.edit_elsewhere(self.files[self.others[1]])
        self.expect(lines=way < 0.5, file=way < 0.75)
        return way < 0.5

    def edit_elsewhere(self, lines) -> None:
        mine = {id(line) for line in self.own}
        line = self.rng.choice([item for item in lines if item.text and id(item) not in mine])
        replace(lines, [line], [Line(edited(self.rng, line.text))])

    def edit_base(self, *, near=False) -> None:
        """Change the base branch: near the pull's lines, or anywhere; and insert lines there."""
        base = self.base_files[self.path]
        shared = [line for line in base if line in self.file]
        if near:
            left = [at for at, line in enumerate(self.file) if line in self.own]
            at, end = left[0], left[-1]
            around = self.file[max(0, at - 4) : max(0, at - 1)] + self.file[end + 2 : end + 5]
            shared = [line for line in shared if line in around] or shared
        text_lines = [line for line in shared if line.text.strip()]
        for line in self.rng.sample(text_lines, min(2, len(text_lines))):
            line.text = edited(self.rng, line.text)
        if text_lines and not near:
            anchor = self.rng.choice(text_lines)
            new = statement(self.rng, anchor)
            for lines in (base, self.file):
                lines.insert(lines.index(anchor), new)
        extra = self.base_files[self.others[1]]
        new = Line("")
        extra.append(new)
        self.files[self.others[1]].append(new)

    def push(self, message=None) -> None:
        self.head = self.history.commit(self.files, [self.head], message or self.message)
        self.later.append(self.head)

    def force_push(self, *, rebased=False) -> None:
        if rebased:
            self.base = self.history.commit(self.base_files, [self.base])
        self.head = self.history.commit(self.files, [self.base], self.message)
        self.later.append(self.head)

    def merge_it(self, *, squash) -> None:
        """Merge; the base branch changed another file."""
        new = Line("// a later line of the base")
        for files in (self.base_files, self.files):
            files[self.others[1]].append(new)
        self.base = self.history.commit(self.base_files, [self.base])
        parents = [self.base] if squash else [self.base, self.head]
        self.merge = self.history.commit(self.files, parents)

    def suggest(self, new) -> None:
        self.suggestion = [line.text for line in new]

    def expect(self, *, lines, file, suggestion=None) -> None:
        self.truth = {Signal.LINES_CHANGED: lines, Signal.FILE_CHANGED: file}
        self.truth[Signal.ACTED_ON] = lines or bool(suggestion)
        if suggestion is not None:
            self.truth[Signal.SUGGESTION_APPLIED] = suggestion

    def expect_observed(self) -> None:
        """Say what is true of the signals that do not need trees."""
        self.truth |= {item: item is self.resolution for _, item in RESOLVED if item}
        self.truth |= {Signal.THUMBS_UP: self.up > 0, Signal.THUMBS_DOWN: self.down > 0}
        self.truth[Signal.BOT_SAYS_ADDRESSED] = self.claim.startswith("✅")
        self.truth[Signal.TRAILER] = bool(self.later) and self.is_named

    def rows(self, store, sha):
        """Return the rows that a synchronisation would write."""
        lost = {item: f"{item:040x}" for item in self.lost}
        names = sha | lost
        body = "This fails for an empty list."
        if self.suggestion is not None:
            body += "\n\n```suggestion\n" + "".join(f"{item}\n" for item in self.suggestion) + "```"
        body += f"\n\n{self.claim}"
        key = comment_key(RemarkKind.LINE, self.number)
        yield Pull(
            repository=1, number=self.number, node=f"PR_{self.number}", title="Change",
            author="linus", state="merged" if self.merge else "open", draft=0, created=COMMENT_AT,
            updated=LATER[-1], base_ref="main", base=names[self.base], head=names[self.head],
            merge_commit=names[self.merge] if self.merge else None, pending=0, observed=NIGHT,
            final=0,
        )  # fmt: skip
        comment = Comment(
            key=key, repository=1, number=self.number, thread=key, author="otter[bot]", author_id=5,
            is_app=1, reviewer="otter", is_bot=1, is_review=1, body=store.add_text(body),
            hunk=store.add_text(self.hunk) if self.hunk else None, created=COMMENT_AT,
            updated=COMMENT_AT, state="", commit_id=names[self.commit], path=self.path_then,
            line=self.span[1], start_line=self.span[0] if len(self.lines) > 1 else None,
            side=self.side,
        )  # fmt: skip
        yield comment
        yield replace_fields(
            comment, key=comment_key(RemarkKind.LINE, 100_000 + self.number), author="linus",
            is_app=0, reviewer="linus", is_bot=0, is_review=0, body=store.add_text(self.answer),
        )  # fmt: skip
        yield CommentObservation(comment=key, night=NIGHT, up=self.up, down=self.down)
        is_resolved = int(self.resolution is not None)
        yield ThreadObservation(
            thread=key, night=NIGHT, resolved=is_resolved, resolved_by=self.resolved_by, outdated=0
        )
        for at, item in zip(LATER, self.later, strict=False):
            yield Revision(
                repository=1, number=self.number, at=at, kind="commit", before="", after=names[item]
            )


def plain_fix(case) -> None:
    case.fix()
    case.push()
    case.edit_elsewhere(case.files[case.others[0]])
    case.push()
    case.expect(lines=True, file=True)


def ignored(case) -> None:
    lines = case.rng.choice([case.file, case.files[case.others[0]], None])
    if lines is not None:
        case.edit_elsewhere(lines)
        case.push()
    case.expect(lines=False, file=lines is case.file)


def force_push(case) -> None:
    case.maybe_fix()
    case.force_push()


def rebase(case) -> None:
    case.maybe_fix()
    case.edit_base(near=True)
    case.edit_base()
    case.force_push(rebased=True)


def rebase_only(case) -> None:
    """Only the base branch changes, also the commented line where that is one of its own."""
    at = case.file.index(case.own[-1])
    context = [
        line for line in case.file[at + 1 : at + 4] if len(re.findall(r"\w+", line.text)) > 1
    ]
    if context and case.rng.random() < 0.5:
        case.comment_on(context[-1:])
        context[-1].text = edited(case.rng, context[-1].text)
    case.edit_base()
    case.force_push(rebased=True)
    case.expect(lines=False, file=False)


def squash(case) -> None:
    case.maybe_fix()
    case.push()
    case.merge_it(squash=True)
    if case.rng.random() < 0.3:
        case.lost.add(case.head)


def merge_of_base(case) -> None:
    case.edit_base(near=True)
    case.base = case.history.commit(case.base_files, [case.base])
    case.head = case.history.commit(case.files, [case.head, case.base])
    case.later.append(case.head)
    case.maybe_fix()
    case.push()
    case.merge_it(squash=False)


def rename(case) -> None:
    is_fixed = case.rng.random() < 0.5
    case.push()
    case.path = case.path.replace("src/", "lib/moved_")
    case.files[case.path] = case.files.pop(case.path_then)
    if is_fixed:
        case.fix()
    case.push()
    case.expect(lines=is_fixed, file=is_fixed)


def moved_code(case) -> None:
    """The function, or the lines with what is around them, go elsewhere."""
    is_fixed = case.rng.random() < 0.4
    at = case.file.index(case.lines[0])
    start, end = at, at + len(case.lines)
    while start > 0 and case.file[start - 1].text:
        start -= 1
    while end < len(case.file) and case.file[end].text:
        end += 1
    block = case.file[start:end]
    del case.file[start:end]
    target = case.rng.choice([case.others[1], f"src/new_{case.number}.{case.language}", case.path])
    lines = case.files.setdefault(target, [])
    blanks = [at for at, line in enumerate(lines) if not line.text and abs(at - start) > 2] or [0]
    at = case.rng.choice(blanks)
    lines[at:at] = [Line(""), *block]
    if is_fixed:
        path, case.path = case.path, target
        case.fix()
        case.path = path
    case.push()
    case.expect(lines=is_fixed, file=True)


def by_button(case) -> None:
    new = [
        Line(edited(case.rng, line.text)) if at == 0 else line for at, line in enumerate(case.lines)
    ]
    case.suggest(new)
    replace(case.file, case.lines, new)
    case.is_named = True
    case.push("Apply suggestion from code review\n\nCo-authored-by: otter[bot] <o@example.org>")
    if case.rng.random() < 0.5:
        case.merge_it(squash=True)
    case.expect(lines=True, file=True, suggestion=True)


def by_hand(case) -> None:
    """Applied with other white space, wrapped, or within a larger edit."""
    rng = case.rng
    new = [Line(edited(rng, line.text)) if at == 0 else line for at, line in enumerate(case.lines)]
    if rng.random() < 0.4:
        new.append(statement(rng, new[-1]))
    case.suggest(new)
    way = rng.randrange(3)
    if way == 0:
        new = [item for line in new for item in reformat(rng, line)]
    elif way == 1:
        new = [Line(f"    {line.text}") for line in new]
    else:
        new = [statement(rng, new[0]), *new, statement(rng, new[-1])]
    end = case.file.index(case.lines[-1]) + 1
    if way == 2 and end < len(case.file) and case.file[end].text:
        case.file[end] = Line(edited(rng, case.file[end].text))
    replace(case.file, case.lines, new)
    case.push()
    case.expect(lines=True, file=True, suggestion=True)


def otherwise(case) -> None:
    """A suggestion that is ignored, or the line is edited in another way."""
    case.suggest([Line(edited(case.rng, line.text)) for line in case.lines])
    is_fixed = case.rng.random() < 0.5
    if is_fixed:
        new = [Line(f"{indent_of(line)}other_{line.text.strip()}") for line in case.lines]
        replace(case.file, case.lines, new)
    else:
        case.edit_elsewhere(case.file)
    case.push()
    case.expect(lines=is_fixed, file=True, suggestion=False)


def reverted(case) -> None:
    new = [Line(edited(case.rng, line.text)) for line in case.lines]
    case.suggest(new)
    replace(case.file, case.lines, new)
    case.push()
    replace(case.file, new, case.lines)
    case.push("Revert it")
    case.expect(lines=False, file=False, suggestion=False)


def reformatted(case) -> None:
    for line in list(case.own):
        if line.text and (line in case.lines or case.rng.random() < 0.3):
            replace(case.file, [line], reformat(case.rng, line))
    case.push()
    case.expect(lines=False, file=False)


def other_lines(case) -> None:
    """The author works next to the commented lines, or around them."""
    rest = [line for line in case.own if line.text.strip() and line not in case.lines]
    for line in case.rng.sample(rest, min(2, len(rest))):
        replace(case.file, [line], [Line(edited(case.rng, line.text))])
    new = statement(case.rng, case.lines[0])
    at = case.file.index(case.lines[0])
    case.file.insert(at + case.rng.choice([0, len(case.lines)]), new)
    case.push()
    case.expect(lines=False, file=True)
    # Lines next to the comment are what it may have asked for.
    case.truth[Signal.ACTED_ON] = True


def deleted(case) -> None:
    del case.files[case.path]
    case.push()
    case.expect(lines=True, file=True)


def lost(case) -> None:
    """The commit of the comment is not in the clone; sometimes not even the hunk is known."""
    case.maybe_fix()
    case.lost.add(case.commit)
    case.force_push()
    if case.rng.random() < 0.25:
        case.hunk = None


KINDS = {
    "plain fix": plain_fix,
    "ignored": ignored,
    "force-push": force_push,
    "rebase, base changed near": rebase,
    "rebase, nothing else": rebase_only,
    "squash merge": squash,
    "base merged in": merge_of_base,
    "renamed": rename,
    "moved code": moved_code,
    "suggestion by button": by_button,
    "suggestion by hand": by_hand,
    "suggestion not applied": otherwise,
    "reverted": reverted,
    "only reformatted": reformatted,
    "other lines of the hunk": other_lines,
    "file deleted": deleted,
    "commit lost": lost,
}


def measure(folder, cases, seed, workers=1):
    """Make the cases, find their signals; return cases, rows by case and signal, and seconds."""
    rng, history = random.Random(seed), History(folder / "1.git")
    created = []
    for number in range(1, cases + 1):
        kind = list(KINDS)[number % len(KINDS)]
        case = Case(history, rng, kind, number)
        KINDS[kind](case)
        case.expect_observed()
        created.append(case)
    sha = history.write()
    with Store(folder / "store.db") as store:
        with store.transaction():
            store.put([row for case in created for row in case.rows(store, sha)])
        start = time.perf_counter()
        find_signals(store, folder, night=NIGHT, engine=make_engine("processes", workers))
        seconds = time.perf_counter() - start
        rows = {(row.comment, row.signal): row for row in store.select(SignalRow)}
    return created, rows, seconds


NO = SignalRow(comment=0, signal=0, night="", rules=0, value=0)
"""Row that was not stored, because it says no."""


def judge(cases, found):
    """Return by signal and by kind and signal: counts of tp, fp, fn, tn and unknown."""
    counts = defaultdict(Counter)
    wrong = []
    for case in cases:
        for signal, truth in case.truth.items():
            row = found.get((comment_key(RemarkKind.LINE, case.number), signal), NO)
            if row.value is None:
                what = "unknown"
            else:
                what = ("t" if row.value == truth else "f") + ("p" if row.value else "n")
            counts[signal][what] += 1
            counts[case.kind, signal][what] += 1
            if what not in ("tp", "tn"):
                wrong.append((case, signal, what, row.evidence))
    return counts, wrong


def shares(count):
    """Return precision, recall and the share of unknown; None for empty counts."""
    yes, true = count["tp"] + count["fp"], count["tp"] + count["fn"]
    precision = count["tp"] / yes if yes else None
    return precision, count["tp"] / true if true else None, count["unknown"] / count.total()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--wrong", action="store_true", help="name each case that is not right")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        cases, result, seconds = measure(
            Path(folder), arguments.cases, arguments.seed, arguments.workers
        )
    counts, wrong = judge(cases, result)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = 1000 * sum(item.ru_utime + item.ru_stime for item in used) / len(cases)
    print(
        f"{len(cases)} cases, seed {arguments.seed}, {seconds:.1f} s, {arguments.workers} workers, "
        f"processor {cpu:.0f} ms a case with the making of it"
    )
    print("signal                       cases  precision  recall  unknown")
    for signal in Signal:
        numbers = ["-" if item is None else f"{item:.3f}" for item in shares(counts[signal])]
        row = "  ".join(f"{item:>7}" for item in numbers)
        print(f"{TITLES[signal]:28} {counts[signal].total():5}    {row}")
    print("\nkind                       signal              right  wrong  unknown")
    for kind in KINDS:
        for signal in MEASURED:
            count = counts[kind, signal]
            if count:
                right, bad = count["tp"] + count["tn"], count["fp"] + count["fn"]
                row = f"{right:5}  {bad:5}  {count['unknown']:7}"
                print(f"{kind:26} {TITLES[signal]:18}  {row}")
    for case, signal, what, evidence in wrong if arguments.wrong else ():
        print(case.number, case.kind, TITLES[signal], what, evidence)


if __name__ == "__main__":
    main()
