"""Contents of a report as blocks: tables and lists for the pages, and the short report."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from markupsafe import Markup

from crscore.audit.decide import IMPORTANT, LISTED
from crscore.audit.overview import (
    ActedOn,
    Decision,
    Example,
    Gap,
    Night,
    Overview,
    RepositorySummary,
    Reviewer,
    Verdict,
)
from crscore.audit.report import words
from crscore.audit.report.details import CommentRow, KindExamples, PullRow
from crscore.audit.tables import SCORES
from crscore.reports import console, escape, frame, view
from crscore.reports.blocks import (
    Block,
    Heading,
    Item,
    Items,
    Line,
    Notice,
    Paragraph,
    Run,
    Signature,
    Table,
    make_table,
)
from crscore.reports.markdown_blocks import render_markdown

SHOWN_VERDICTS: Final = 12
"""Number of verdicts that are shown unfolded."""
MAX_ROWS: Final = 30
"""Maximum number of reviewers in the table of the short report."""
MAX_NIGHTS: Final = 14
_MAX_MARKDOWN_CHARS: Final = 60_000
_TEXT_CHARS: Final = 400
COMMENT_CHARS: Final = 120
"""Maximum characters of a comment on the page of its pull request."""
_VERDICTS: Final = {
    "better": ("differ", "good"),
    "worse": ("differ", "good"),
    "equivalent": ("equal", ""),
    "unknown": ("open", "dim"),
}
"""Label and tone of each verdict."""


Column = tuple[str, Callable[[Reviewer], Line]]
"""Title of a column, and its cell for a reviewer."""
TABLES: Final[Mapping[str, tuple[Column, ...]]] = {
    "Scores": (
        ("Rank", words.ranks),
        ("Usefulness", lambda row: _strong(words.interval(row.usefulness))),
        *(
            (name.capitalize(), lambda row, name=name: words.interval(getattr(row, name)))
            for name in SCORES[1:]
        ),
        ("Remarks", lambda row: _wide(words.remarks(row))),
        ("Pull requests", lambda row: _count(row.pulls)),
        ("Not scorable", lambda row: _count(row.abstained)),
    ),
    "Comments and noise": (
        ("Comments per pull request", lambda row: _strong(words.interval(row.comments_per_pull))),
        ("Comments", lambda row: _count(row.comments)),
        ("Noise", lambda row: _strong(words.share(row.noise.share))),
        ("Kinds of noise", lambda row: _wide(words.noise_parts(row))),
    ),
    "Coverage": (
        ("Last commit reviewed", lambda row: _strong(words.share(row.coverage.last_head))),
        ("Reviewed at all", lambda row: words.of_total(row.coverage.reviewed)),
        ("Green check, nothing posted", lambda row: _count(row.coverage.green_unreviewed)),
        ("Said that it did not review", lambda row: _wide(words.skips(row))),
    ),
}
"""Columns of the tables of reviewers, by caption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """File names of pages by name, for links; names without a page become plain text."""

    root: str = ""
    bots: Mapping[str, str] = field(default_factory=dict)
    repositories: Mapping[str, str] = field(default_factory=dict)
    pulls: Mapping[str, str] = field(default_factory=dict)

    def bot(self, name: str) -> Run:
        """Link a reviewer."""
        return Run(escape.one_line(name, 80), link=self._address("bots", self.bots.get(name)))

    def reviewer(self, row: Reviewer) -> Line:
        """Link a reviewer, with a note for a person."""
        return (self.bot(row.name),) if row.is_bot else (self.bot(row.name), Run(" (person)"))

    def repository(self, row: RepositorySummary) -> Line:
        """Link a repository, with a note if it cannot be read."""
        link = self._address("repositories", self.repositories.get(row.name))
        note = row.state if row.reason is None else f"{row.state}: {row.reason}"
        return (Run(row.name, link=link), Run("" if row.state == "ok" else f" {note}", "dim"))

    def pull(self, repository: str, number: int) -> Run:
        """Link a pull request."""
        name = f"{repository}#{number}"
        page = self._address("pulls", self.pulls.get(name))
        return Run(name, link=f"{page}#pull-{number}" if page else "")

    def _address(self, folder: str, file: str | None) -> str:
        return f"{self.root}{folder}/{file}.html" if file else ""


def decisions(rows: Sequence[Reviewer], links: Links) -> Items:
    """List the decision about each bot, with its numbers and links to the comments."""
    tiles = (_tile(row, row.decision, links) for row in rows if row.decision)
    return Items(tuple(tiles), noun="bots")


def _tile(row: Reviewer, decision: Decision, links: Links) -> Item:
    # Outside the index page, a tile is always on the bot's own page.
    page = "" if links.root else links.bot(row.name).link

    def fact(text: str, part: str, *, count: int = 1) -> Run:
        return Run(text, link=f"{page}#{part}" if count and (page or links.root) else "")

    def counts(*, are_important: bool) -> Iterator[Run]:
        for kind in decision.kinds:
            if (kind.kind in IMPORTANT) == are_important:
                yield listed(kind.kind, kind.comments)

    def listed(kind: str, count: int) -> Run:
        return fact(f"{LISTED[kind]}: {count:,}", kind, count=count)

    acted = words.acted(row, words.SIGNAL_OF_CHART)
    acted_text = f"acted on: {words.of_total(acted.rate)}" if acted else ""
    presence = (
        f"last commit reviewed on {view.percent(row.coverage.last_head.share)} of merges",
        "" if decision.hours is None else f"first review after {words.number(decision.hours)} h",
        f"nothing said on {decision.silent:,} of "
        f"{view.count_noun(decision.gained.total, 'pull request')}",
    )
    shares = again = ""
    if points := decision.points:
        shares = f"points that only it made: {points.only:,} of {points.total:,}, that it made "
        shares += f"first: {points.first:,}, that people made later: {points.people:,}"
        again = f"said again after an answer: {points.again:,}" if points.again else ""
    minutes = fact(f"minutes of reading: {words.number(decision.minutes)}", "comments")
    return Item(
        decision.text,
        lead=(Run(decision.verdict, f"chip {decision.verdict}"),),
        below=(
            _facts(
                "Gain",
                *counts(are_important=True),
                fact(shares, "comments"),
                listed("confirmed", decision.confirmed),
                fact(acted_text, "acted", count=acted.rate.count if acted else 0),
            ),
            _facts(
                "Cost",
                *counts(are_important=False),
                fact(again, "repeat"),
                listed("refuted", decision.refuted),
                Run(f"changed or written when all was over: {words.of_total(decision.afterwards)}"),
                minutes,
            ),
            _facts("Presence", *(fact(text, "numbers") for text in presence)),
        ),
    )


def _facts(title: str, *facts: Run) -> Line:
    """Join facts to one line; facts without text are left out."""
    texts = [part for fact in facts if fact.text for part in (Run(", "), fact)]
    return (Run(f"{title}: ", "strong"), *texts[1:])


def kind_title(kind: KindExamples) -> str:
    """Return the title of the comments of one kind."""
    title = LISTED[kind.kind]
    return f"{title[0].upper()}{title[1:]} ({len(kind.comments) + kind.unlisted:,})"


def reviewers(caption: str, overview: Overview, links: Links) -> Table:
    """Tabulate all reviewers with the columns of one table of `TABLES`."""
    return make_table(caption, overview.reviewers, ("Reviewer", links.reviewer), *TABLES[caption])


def acted_on(overview: Overview, links: Links) -> Table | None:
    """Tabulate the signals of each reviewer; None if there are none."""
    columns = _signals(overview.reviewers)
    if not columns:
        return None
    return make_table("Acted on", overview.reviewers, ("Reviewer", links.reviewer), *columns)


def numbers(row: Reviewer) -> Table:
    """Tabulate all numbers of one reviewer, one per row."""
    tables = {**TABLES, "Acted on": _signals([row])}
    lines = (
        (f"{caption}: {title}", make_cell(row))
        for caption, columns in tables.items()
        for title, make_cell in columns
    )
    return Table("Numbers", ("Number", "Value"), tuple(lines), is_prose=True)


def _signals(rows: Sequence[Reviewer]) -> tuple[Column, ...]:
    names = (acted.signal for row in rows for acted in row.acted_on if acted.rate.count)
    return tuple(
        (signal, lambda row, signal=signal: _acted_cell(words.acted(row, signal)))
        for signal in dict.fromkeys(names)
    )


def _acted_cell(acted: ActedOn | None) -> Line:
    if acted is None:
        return view.UNDEFINED
    base = f" base {view.percent(acted.base.share)}" if acted.base else ""
    unknown = ""
    if acted.unknown:
        unknown = f" unknown {view.percent(acted.unknown / (acted.rate.total + acted.unknown))}"
    return (Run(view.percent(acted.rate.share), "strong"), Run(base + unknown, "minor"))


def repositories(overview: Overview, links: Links) -> Table:
    """Tabulate the repositories."""
    return make_table(
        "Repositories",
        overview.repositories,
        ("Repository", links.repository),
        ("Pull requests", lambda row: _count(row.pulls)),
        ("Merged", lambda row: _count(row.merged)),
        ("Reviewers", lambda row: _wide(escape.one_line(", ".join(row.reviewers), _TEXT_CHARS))),
    )


def nights(rows: Sequence[Night]) -> Table:
    """Tabulate the last runs, the newest first."""
    return make_table(
        "Runs",
        rows[: -MAX_NIGHTS - 1 : -1],
        ("Night", lambda row: f"{row.night} {row.kind}"),
        ("Pull requests", lambda row: _count(row.pulls)),
        ("Failed", lambda row: _count(row.failed)),
        ("REST requests", lambda row: _count(row.rest_requests)),
        ("GraphQL points", lambda row: _count(row.graphql_points)),
        ("Seconds", lambda row: f"{row.seconds:.0f}"),
        ("Incomplete because", lambda row: _wide(row.partial or view.UNDEFINED)),
    )


def pulls(repository: str, rows: Sequence[PullRow], links: Links, *, limit: int) -> Table:
    """Tabulate the newest pull requests of a repository."""
    table = make_table(
        "Pull requests",
        rows[:limit],
        ("Pull request", lambda row: (links.pull(repository, row.number),)),
        ("Title", lambda row: _wide(escape.one_line(row.title, 200))),
        ("State", lambda row: row.state),
        ("Created", lambda row: row.created),
        ("Comments", lambda row: _count(row.comments)),
        ("Usefulness of all reviews together", lambda row: _strong(_count(row.standing))),
    )
    return replace(table, unlisted=max(len(rows) - limit, 0))


def verdicts(rows: Sequence[Verdict], *, limit: int = SHOWN_VERDICTS) -> Items:
    """List verdicts."""
    items = []
    for row in rows:
        word, tone = _VERDICTS[row.verdict]
        items.append(Item((Run(row.text, tone),), lead=(Run(word, f"chip {row.verdict}"),)))
    return Items(tuple(items), noun="pairs", max_open=limit)


def examples(rows: Sequence[Example], links: Links, *, unlisted: int = 0) -> Items:
    """List comments with their usefulness, and the stance and level of their best remarks."""
    items = (
        _example(
            row, (links.bot(row.reviewer), Run(" on "), links.pull(row.repository, row.number))
        )
        for row in rows
    )
    return Items(tuple(items), unlisted=unlisted)


def _example(row: Example, origin: tuple[Run, ...]) -> Item:
    link = _link_to(row, "the comment")
    lead = (Run(_standing(row), "strong"),)
    facts = (*origin, Run(_labels(row)), *((Run(" · "), link) if link.link else ()))
    return Item(row.text, lead=lead, below=(facts,))


def comments(rows: Iterable[CommentRow]) -> Iterator[tuple[str, Markup, Line]]:
    """Yield usefulness, text and facts of the comments on one pull request, in few bytes.

    A year of a busy team has some 20,000 comments, and these pages most of a report's bytes.
    """
    for row in rows:
        example, acted = row.example, {1: "acted on", 0: "not acted on", None: None}[row.acted_on]
        facts = example.reviewer + _labels(example, row.verdict, acted) + " · "
        place = _location(row.path, row.line).removeprefix(" · ") or "the comment"
        cut = example.text[:COMMENT_CHARS] + "…" * (len(example.text) > COMMENT_CHARS)
        yield _standing(example), frame.prose(cut), (Run(facts), _link_to(example, place))


def _standing(row: Example) -> str:
    return "–" if row.standing is None else str(row.standing)


def _labels(row: Example, *more: str | None) -> str:
    labels = (words.NOISE[row.noise],) if row.noise else (row.stance, row.level)
    return "".join(f" · {label}" for label in (*labels, *more) if label)


def _link_to(row: Example, text: str) -> Run:
    # The store is untrusted: an address with another scheme could run a script.
    return Run(text, link=row.url if row.url.startswith(("https://", "http://")) else "")


def gaps(rows: Sequence[Gap], links: Links | None = None) -> Items:
    """List findings that no comment addressed; without links for a single pull request."""
    items = []
    for row in rows:
        pull = links.pull(row.repository, row.number) if links else Run("not addressed")
        location = Run(_location(row.path, row.line), "place")
        severity = Run(f" · {row.severity}" if row.severity else "")
        items.append(
            Item(escape.one_line(row.text, _TEXT_CHARS), below=((pull, location, severity),))
        )
    return Items(tuple(items))


def _location(path: str | None, line: int | None) -> str:
    return f" · {path}:{line}" if path and line else f" · {path}" if path else ""


def pull_title(row: PullRow, url: str) -> Heading:
    """Return the title of a pull request, with a link to its page on the host."""
    return Heading((Run(f"#{row.number}", link=url), Run(f" {escape.one_line(row.title, 200)}")))


def render_text(overview: Overview, *, color: bool = False, width: int = 80) -> str:
    """Write the short report for a terminal.

    Args:
        overview: The overview.
        color: Whether to write colour sequences.
        width: Columns of the terminal, limited to 60 to 160.

    Returns:
        Text that ends with a newline, without trailing spaces.
    """
    return console.render_blocks(_short(overview), color=color, width=width)


def render_verdicts(rows: Sequence[Verdict], *, color: bool = False, width: int = 80) -> str:
    """Write verdicts for a terminal; the arguments are as in `render_text`."""
    return console.render_blocks([verdicts(rows, limit=len(rows))], color=color, width=width)


def render_summary(overview: Overview) -> str:
    """Write the short report as Markdown for the summary of a job.

    It has no charts, because a job summary shows neither inline SVG nor embedded images.
    """
    blocks = _short(overview)
    return render_markdown([blocks], limit=_MAX_MARKDOWN_CHARS, noun="report", heading="##")


def _short(overview: Overview) -> Iterator[Block]:
    yield Heading(words.heading(overview), 1)
    yield Paragraph(words.facts(overview), "dim")
    yield Paragraph((Run(words.opening(overview)),))
    if overview.notes:
        yield Notice("Note", "Limits of these numbers", overview.notes)
    bots = [row for row in overview.reviewers if row.is_bot]
    if bots:
        yield Heading("Which bots to keep")
        yield replace(decisions(bots[:MAX_ROWS], Links()), unlisted=max(len(bots) - MAX_ROWS, 0))
    if overview.reviewers:
        yield _short_table(overview)
        yield Paragraph(
            "Brackets are 95 % intervals. Comments are the mean per pull request. Acted on is the "
            "share of comments on lines of which one, or one at most three lines away, changed "
            "later; then the same for lines without a comment. Reviewed is the share of merged "
            "pull requests whose last commit was reviewed.",
            "dim",
        )
    ordered = words.decided_first(overview)
    if ordered:
        yield Heading("Pairs of bots")
        hidden = max(len(ordered) - SHOWN_VERDICTS, 0)
        yield replace(verdicts(ordered[:SHOWN_VERDICTS]), unlisted=hidden)
    if overview.signature:
        yield Signature(overview.signature)


def _short_table(overview: Overview) -> Table:
    table = make_table(
        "Reviewers",
        overview.reviewers[:MAX_ROWS],
        ("Reviewer", Links().reviewer),
        ("Usefulness", lambda row: _strong(words.interval(row.usefulness))),
        ("Comments", lambda row: words.mean(row.comments_per_pull)),
        ("Noise", lambda row: view.percent(row.noise.share.share)),
        ("Acted on", _acted_share),
        ("Reviewed", lambda row: view.percent(row.coverage.last_head.share)),
        ("Rank", words.ranks),
        ("Importance", lambda row: words.mean(row.importance)),
    )
    return replace(table, unlisted=max(len(overview.reviewers) - MAX_ROWS, 0))


def _acted_share(row: Reviewer) -> str:
    acted = words.acted(row, words.SIGNAL_OF_CHART)
    if acted is None:
        return view.UNDEFINED
    base = f" / {view.percent(acted.base.share)}" if acted.base else ""
    return view.percent(acted.rate.share) + base


def _strong(text: str) -> Line:
    return (Run(text, "strong"),)


def _wide(text: str) -> Line:
    return (Run(text, "wide"),)


def _count(value: int | None) -> str:
    return view.UNDEFINED if value is None else f"{value:,}"
