"""Recount the numbers on the first page of an audit's report, by plain SQL and Python.

    python -m benchmarks.audit_recount STORE SITE

STORE is the database of the audit, and SITE the folder that `crscore audit report -o SITE` wrote;
`make demo-audit` makes both. The numbers (at least 60 in this demonstration) are read from the text
of `index.html`, and counted again from the tables of the store without any code of `crscore`.
Prints the numbers that differ, and those that occur on the page with two values.
"""

from __future__ import annotations

import argparse
import html
import re
import sqlite3
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

LEVELS = ("critical", "major", "minor")
EMPTY = {
    "repeat": "repetitions",
    "restates": "summaries of the change",
    "praise": "praise",
    "nothing": "empty comments",
}
ASKS = ("asks for a change", "names a problem", "proposes code", "asks a question", None)
Numbers = dict[tuple[str, str], set[int]]
"""Bot and name of a number -> the values of this number on the page."""

SHOWN = (
    ("comments", r"of ([\d,]+) comments? (?:mattered|gave)"),
    ("comments", r"of its ([\d,]+) comments"),
    ("mattered", r"([\d,]+) of [\d,]+ comments? mattered"),
    ("answered", r"People replied to ([\d,]+) worth"),
    ("only resolved", r"resolved ([\d,]+) of these without a fix"),
    ("others resolved", r"also resolved ([\d,]+) of"),
    ("other threads", r"also resolved [\d,]+ of ([\d,]+)"),
    ("green without a review", r"check was green on ([\d,]+) pull"),
    ("important", r"([\d,]+) of its [\d,]+ comments (?:is|are) worth"),
    ("no reaction", r"nor resolved: ([\d,]+) more"),
    ("nothing to do", r"([\d,]+) of [\d,]+ comments? gave nothing"),
    ("nits", r"nits ([\d,]+)"),
    *((title, rf"{title} ([\d,]+)") for title in EMPTY.values()),
    ("pulls seen", r"commented on (?:all|[\d,]+ of the) ([\d,]+) pull requests?"),
    ("pulls seen", r"[\d,]+ of ([\d,]+) pull requests? got"),
    ("commented", r"commented on (?:all )?([\d,]+) "),
    ("gained", r"([\d,]+) of [\d,]+ pull requests? got"),
    ("reviewed", r"reviewed ([\d,]+) of"),
    ("last commit", r"first post, ([\d,]+) at their last commit"),
    ("merged", r"reviewed [\d,]+ of ([\d,]+) merged"),
    ("fixed, with other lines", r"people fixed ([\d,]+) of [\d,]+ comp"),
    ("known, with other lines", r"people fixed [\d,]+ of ([\d,]+) comp"),
    ("templated", r"templated comments ([\d,]+)"),
    ("templated fixed", r"people fixed ([\d,]+) of the templated comments"),
    ("notices", r"([\d,]+) times? that it did not review, because a limit was reached"),
)
"""Name of a number, and a pattern that finds it in the text."""


def read_page(site: Path) -> Numbers:
    """Return the numbers of each bot on the page `index.html`."""
    text = site.joinpath("index.html").read_text("utf-8")
    numbers: Numbers = defaultdict(set)
    for item in re.findall(r"<li>(.*?)</li>", text, re.DOTALL):
        if "All about" not in item:
            continue
        lines = re.sub(r'<span class="dim txt"><span class="quote">.*?</a></span>', "", item)
        plain = html.unescape(re.sub(r"<[^>]+>", " ", lines))
        bot = re.search(r"All about (\S+)", plain)[1]
        plain = re.sub(r"people fixed [^;]* seemingly", "", plain)
        plain = re.sub(r"Compared:.*?Certainty:", "Certainty:", " ".join(plain.split()))
        for name, pattern in SHOWN:
            for value in re.findall(pattern, plain):
                numbers[bot, name].add(int(value.replace(",", "")))
    return numbers


def find_templated(rows: list[sqlite3.Row]) -> set[int]:
    """Return the keys of templated comments.

    In these, half of the words are in groups of four words that the bot used at least twice before.
    Quoted code, numbers and names all count as the same word.
    """
    earlier: dict[str, Counter] = defaultdict(Counter)
    templated = set()
    for row in sorted(rows, key=lambda row: (row["created"], row["key"])):
        if not row["is_bot"] or row["noise"] is not None or row["level"] is None:
            continue
        text = re.sub(r"`[^`]*`|\"[^\"]*\"|https?://\S+", " _ ", row["text"])
        words = [word.strip(".,;:!?()[]*'") for word in text.split()]
        words = [
            word.lower() if word.isalpha() and word[1:] == word[1:].lower() else "_"
            for word in words
            if word
        ][:40]
        groups = [tuple(words[at : at + 4]) for at in range(max(1, len(words) - 3))]
        said = {
            at + offset
            for at, group in enumerate(groups)
            if earlier[row["reviewer"]][group] >= 2
            for offset in range(len(group))
        }
        if said and 2 * sum(words[at] != "_" for at in said) >= len(words) - words.count("_"):
            templated.add(row["key"])
        earlier[row["reviewer"]].update(set(groups))
    return templated


def count(store: sqlite3.Connection) -> Counter[tuple[str, str]]:
    """Count the numbers of each bot from the tables: (bot, name of a number) -> value."""
    rows = store.execute(
        """SELECT c.*, s.noise, s.level, s.stance, s.verdict, s.point, s.text,
          c.commit_id IS (SELECT head FROM pulls p WHERE p.repository = c.repository
            AND p.number = c.number) AS on_head
        FROM comments c JOIN comment_scores s ON s.comment = c.key
        JOIN last_scored l ON l.repository = c.repository AND l.number = c.number
          AND l.content = s.content AND l.signature = s.signature"""
    ).fetchall()
    templated = find_templated(rows)
    signals = {
        (row["comment"], row["signal"]): row
        for row in store.execute("SELECT * FROM signals ORDER BY night, rules")
    }
    posts = store.execute("SELECT * FROM comments").fetchall()
    writers = {post["key"]: post["reviewer"] for post in posts}
    answered = {
        post["thread"]
        for post in posts
        if not post["is_bot"] and writers.get(post["thread"], post["reviewer"]) != post["reviewer"]
    }
    causes = [
        row
        for row in rows
        if row["noise"] is None
        and (row["level"] in LEVELS or not row["is_bot"])
        and row["key"] not in templated
        and row["line"] is not None
    ]
    said = set()
    counts: Counter[tuple[str, str]] = Counter()
    gained = defaultdict(set)
    for row in sorted(rows, key=lambda row: row["key"]):
        bot = row["reviewer"]
        words = (bot, row["repository"], row["number"], row["text"])
        is_alone = words not in said and not any(share_cause(row, other) for other in causes)
        said.add(words)
        counts[bot, "comments"] += 1
        is_template, is_refuted = row["key"] in templated, (row["verdict"] or "")[:7] == "refuted"
        is_empty = is_template or row["noise"] or is_refuted
        resolution = signals.get((row["key"], 3))
        resolved = resolution is not None and resolution["value"] == 1
        if row["thread"] is not None and (is_empty or row["level"] not in LEVELS):
            counts[bot, "other threads"] += 1
            counts[bot, "others resolved"] += resolved
        fixed, has_others = None, False
        is_first = row["point"] in (None, row["key"])
        if is_first and not row["noise"] and row["stance"] in ASKS and is_alone:
            signal = signals.get((row["key"], 1))
            fixed = signal and signal["value"]
            has_others = fixed is not None and bool(signal["base_all"])
        if is_empty:
            counts[bot, "nothing to do"] += 1
            counts[bot, "templated"] += is_template
            counts[bot, "templated fixed"] += is_template and fixed == 1
            if row["noise"] and not is_template:
                counts[bot, EMPTY[row["noise"]]] += 1
            continue
        counts[bot, "nits"] += row["level"] == "nit"
        if row["level"] not in LEVELS:
            continue
        gained[bot].add((row["repository"], row["number"]))
        has_reaction = fixed == 1 or resolved
        for name, value in (
            ("important", True),
            ("fixed, with other lines", fixed == 1 and has_others),
            ("known, with other lines", has_others),
            ("answered", row["thread"] in answered),
            ("only resolved", resolved and fixed != 1),
            ("mattered", has_reaction),
            ("no reaction", not has_reaction),
        ):
            counts[bot, name] += value
    count_pulls(store, posts, rows, counts)
    for bot, pulls in gained.items():
        counts[bot, "gained"] = len(pulls)
    return counts


def share_cause(row: sqlite3.Row, other: sqlite3.Row) -> bool:
    """Return whether a change of a comment's lines may be due to another reviewer's comment."""
    place = ("repository", "number", "path")
    if row["line"] is None or any(row[name] != other[name] for name in place):
        return False
    is_far = other["line"] + 6 < (row["start_line"] or row["line"]) or row["line"] + 6 < (
        other["start_line"] or other["line"]
    )
    is_same = other["point"] == row["key"] or other["thread"] == row["thread"]
    is_later = other["on_head"] and not row["on_head"]
    return not (is_far or is_same or is_later) and other["reviewer"] != row["reviewer"]


def count_pulls(
    store: sqlite3.Connection,
    posts: list[sqlite3.Row],
    rows: list[sqlite3.Row],
    counts: Counter[tuple[str, str]],
) -> None:
    """Add to `counts` the numbers of pull requests of each bot, in repositories where it posted."""
    pulls = {
        (row["repository"], row["number"]): row for row in store.execute("SELECT * FROM pulls")
    }
    for bot in {post["reviewer"] for post in posts if post["is_bot"]}:
        own = [post for post in posts if post["reviewer"] == bot]
        posted = {(post["repository"], post["number"]) for post in own}
        touched = {(row["repository"], row["number"]) for row in rows if row["reviewer"] == bot}
        names = {bot, *(post["author"].removesuffix("[bot]") for post in own)}
        checked = {
            (row["repository"], row["number"])
            for row in store.execute("SELECT * FROM checks WHERE outcome IN ('success', 'neutral')")
            if re.sub(r"\W", "", row["app"].lower()) in {re.sub(r"\W", "", name) for name in names}
        }
        seen = posted | {pull for pull in checked if pulls[pull]["state"] == "merged"}
        for pull, row in pulls.items():
            days = [pulls[other]["created"][:10] for other in posted if other[0] == pull[0]]
            if row["state"] == "merged" and days and min(days) <= row["created"][:10] <= max(days):
                seen.add(pull)
        counts[bot, "pulls seen"], counts[bot, "commented"] = len(seen), len(seen & touched)
        merged = {pull for pull, row in pulls.items() if row["state"] == "merged"}
        first = {}
        for post in own:
            at = first.setdefault(post["repository"], post["created"])
            first[post["repository"]] = min(at, post["created"])
        counts[bot, "merged"] = sum(
            pull[0] in first and pulls[pull]["merged"] >= first[pull[0]] for pull in merged
        )
        reviewed = {
            (post["repository"], post["number"])
            for post in own
            if post["skip"] is None
            and post["thread"] in (None, post["key"])
            and (post["is_review"] or post["key"] % 4 == 1)
        }
        counts[bot, "reviewed"] = len(reviewed & merged)
        counts[bot, "green without a review"] = len((checked & merged) - reviewed)
        counts[bot, "notices"] = len(
            {(post["repository"], post["number"]) for post in own if post["skip"] == "limit"}
        )
        counts[bot, "last commit"] = len(
            {
                (post["repository"], post["number"])
                for post in own
                if (post["repository"], post["number"]) in merged
                and post["skip"] is None
                and post["thread"] in (None, post["key"])
                and (post["is_review"] or post["key"] % 4 == 1)
                and post["commit_id"] == pulls[post["repository"], post["number"]]["head"]
                and post["created"] <= pulls[post["repository"], post["number"]]["merged"]
            }
        )


class Recount(NamedTuple):
    """Numbers on a page, compared with those counted from the store."""

    numbers: Numbers
    """All numbers on the page."""
    wrong: Numbers
    """Numbers that differ, with the values on the page and the counted value."""
    twice: Numbers
    """Numbers that occur on the page with two values."""


def recount(path: Path, site: Path) -> Recount:
    """Count the numbers of a page again from the store at `path`."""
    numbers = read_page(site)
    store = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    store.row_factory = sqlite3.Row
    counts = count(store)
    store.close()
    wrong = {
        key: values | {counts[key]} for key, values in numbers.items() if values != {counts[key]}
    }
    return Recount(numbers, wrong, {key: row for key, row in numbers.items() if len(row) > 1})


def main() -> None:
    """Recount the page and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("site", type=Path)
    arguments = parser.parse_args()
    numbers, wrong, twice = recount(arguments.store, arguments.site)
    for key, values in (wrong | twice).items():
        print(*key, "on the page or counted:", *sorted(values))
    print(f"wrong: {len(wrong)} of {len(numbers)}; with two values on the page: {len(twice)}")


if __name__ == "__main__":
    main()
