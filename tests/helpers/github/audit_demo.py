"""The scene `audit`: a month of a company with two repositories, four review bots and two people.

The bots differ: one finds weaknesses; one finds some, but mostly says what the change does and
praises; one has matters of taste, which it repeats, and from day 15 on twice as many; one finds
weaknesses, too, but was installed a week ago. What is found is often mended. Each change also has
code without a comment, and in every third, the author edits a line of it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.helpers.github.audit_texts import EDITS, OTHERS, SAMPLES, Sample
from tests.helpers.github.people import JONAS, MIRA, NADIA, RABBIT
from tests.helpers.github.state import START, LineComment, Pull, Repository, User, World, iso
from tests.helpers.github.writer import Spot, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

DAYS = 30
PULLS = 40
DAY_S = 86_400
FIRST_DAY, LAST_DAY = iso(START)[:10], iso(START + DAYS * DAY_S)[:10]
EDITED = 3
"""In every so many pull requests, the author also edits code that had no comment."""
CHANGED_ON = 15
"""Day from which on one bot writes twice as much."""
COPILOT = User(
    login="copilot-pull-request-reviewer[bot]", id=175728472, type="Bot", association="NONE"
)
PICKER = User(login="nitpicker[bot]", id=210000001, type="Bot", association="NONE")
SCOUT = User(login="scout[bot]", id=210000002, type="Bot", association="NONE")
UNRESOLVED = 3
"""Weekday, from 0, on which no thread is resolved."""
TRIED_FROM = 22
"""Day from which one bot is tried."""
NAMES = (
    "Gift", "Spring", "Tea", "Coffee", "Partner", "Student", "Travel", "Night", "Garden", "Winter",
    "Office", "Family", "Club", "Press", "Staff", "Local", "Export", "Trial", "Yearly", "Monthly",
    "Summer", "Music", "Paper", "Book", "Bike", "Harbor", "River", "Forest", "Lake", "Island",
    "North", "South", "East", "West", "City", "Village", "Market", "Studio", "Museum", "Theatre",
)  # fmt: skip
LIMIT_NOTICE = (
    "<!-- This is an auto-generated comment: rate limited by coderabbit.ai -->\n\n"
    "> [!WARNING]\n> ## Rate limit exceeded\n>\n"
    "> Please wait before requesting another review."
)


@dataclass(frozen=True, kw_only=True)
class _Story:
    """Texts of one pull request."""

    writer: Writer
    sample: Sample
    files: dict[str, str]
    """All files of the base branch, as they are now."""
    dice: random.Random
    day: int

    def at(self, hours: float) -> None:
        """Let so many hours pass since the pull request was opened."""
        self.writer.world.now = int(START + self.day * DAY_S + hours * 3_600)

    def spot(self, body: str, *, below: int = 0) -> Spot:
        return Spot(path=self.sample.path, line=self.sample.line() - below, body=body)


def audit(pulls: int = PULLS) -> World:
    """Build the month: so many pull requests, the same ones each time."""
    repositories = [
        Repository(owner="acme", name="shop", id=90_000_001, language="Python"),
        Repository(owner="acme", name="billing", id=90_000_002, language="Java"),
    ]
    world = World(repositories=repositories)
    for repository in repositories:
        own = [one for one in SAMPLES if one.repository == repository.full_name]
        plans = list(_plans(repository, own, pulls // 2))
        files = {sample.path: sample.before for _, _, sample in plans}
        start = repository.history.commit(files, message="Start")
        repository.branches[repository.default_branch] = start
        for number, day, sample in plans:
            _tell(_open(world, repository, number, day, sample, files))
    return world


def _plans(
    repository: Repository, samples: list[Sample], count: int
) -> Iterator[tuple[int, int, Sample]]:
    """Number, day and change of each pull request of a repository."""
    offset = 0 if repository.name == "shop" else count
    for at in range(count):
        sample = samples[at % len(samples)]
        other = edited = OTHERS[sample.path[sample.path.rindex(".") :]]
        if at % EDITED == EDITED - 1:
            for old, new in EDITS:
                edited = edited.replace(old, new)
            sample = replace(sample, edited=sample.after + edited)
        sample = replace(sample, after=sample.after + other, fixed=sample.fixed + edited)
        name = NAMES[offset + at]
        named = {
            field: getattr(sample, field).replace(
                "NAME", name if sample.path.endswith(".java") else name.lower()
            )
            for field in ("title", "path", "before", "after", "fixed", "edited", "at", "restates")
        }
        yield at + 1, at * DAYS // count, replace(sample, **named)


def _open(
    world: World,
    repository: Repository,
    number: int,
    day: int,
    sample: Sample,
    files: dict[str, str],
) -> _Story:
    world.now = START + day * DAY_S
    history = repository.history
    base = repository.branches[repository.default_branch]
    head = history.commit(
        {**files, sample.path: sample.after}, parents=[base], message=sample.title, at=world.now
    )
    pull = Pull(
        number=number,
        title=sample.title,
        body=None,
        author=NADIA,
        base=base,
        heads=[head],
        head_repository=repository.full_name,
        head_ref=f"change-{number}",
        at=world.tick(),
    )
    repository.pulls[number] = pull
    repository.branches[pull.head_ref] = head
    writer = Writer(world=world, repository=repository, pull=pull)
    dice = random.Random(f"{repository.name} {number}")
    return _Story(writer=writer, sample=sample, files=files, dice=dice, day=day)


def _tell(story: _Story) -> None:
    writer, dice = story.writer, story.dice
    story.at(0.2)
    found = [*_rabbit(story), *_copilot(story), *_picker(story)]
    if story.day >= TRIED_FROM:
        text = _sharp(story) if dice.random() < 0.7 else story.sample.small
        found += writer.review(SCOUT, spots=[story.spot(text)])
    story.at(5)
    found += _people(story, _sharp_ones(story, found))
    story.at(26)
    sharp = _sharp_ones(story, found)
    text = story.sample.edited or story.sample.after
    if sharp and dice.random() < 0.75:
        text = story.sample.fixed
        files = {**story.files, story.sample.path: text}
        if dice.random() < 0.2:
            writer.force_push(files, message=story.sample.title, at=writer.world.now)
        else:
            writer.push(files, message="Address review", at=writer.world.now)
        # Some threads stay open although their lines are mended.
        for comment in sharp if story.day % 7 != UNRESOLVED else ():
            writer.resolve(comment, NADIA)
            if comment.author == RABBIT and dice.random() < 0.5:
                writer.react(comment, up=1)
    elif found and dice.random() < 0.3:
        writer.react(dice.choice(found), down=1)
    if text == story.sample.edited:
        writer.push({**story.files, story.sample.path: text}, message="Go on", at=writer.world.now)
    writer.check("coderabbitai", "CodeRabbit", "SUCCESS")
    story.at(30)
    end = dice.random()
    if story.day < DAYS - 2 and end < 0.85:
        writer.merge(dice.choice(("merge", "squash", "rebase")))
        story.files[story.sample.path] = text
    elif story.day < DAYS - 2:
        writer.close()


def _sharp_ones(story: _Story, found: list[LineComment]) -> list[LineComment]:
    sample = story.sample
    starts = [text[:40] for text in (sample.sharp, sample.also, sample.person)]
    return [comment for comment in found if any(start in comment.body for start in starts)]


def _sharp(story: _Story) -> str:
    return story.dice.choice((story.sample.sharp, story.sample.also))


def _rabbit(story: _Story) -> list[LineComment]:
    """Finds the weakness mostly; sometimes it reviews nothing."""
    writer, dice, sample = story.writer, story.dice, story.sample
    kind = dice.random()
    if kind < 0.1:
        writer.say(RABBIT, LIMIT_NOTICE)
        return []
    if kind < 0.18:
        return []
    text = _sharp(story) if dice.random() < 0.9 else sample.small
    body = f"_⚠️ Potential issue_\n\n{text}"
    if sample.suggestion and text != sample.small:
        body += f"\n\n```suggestion\n{sample.suggestion}\n```"
    return writer.review(RABBIT, body="**Actionable comments posted: 1**", spots=[story.spot(body)])


def _copilot(story: _Story) -> list[LineComment]:
    sample, dice = story.sample, story.dice
    texts = dice.choices(
        (sample.restates, sample.praise, _sharp(story), sample.small), (5, 2, 2, 1), k=2
    )
    spots = [story.spot(text, below=at) for at, text in enumerate(dict.fromkeys(texts))]
    return story.writer.review(COPILOT, body="", spots=spots)


def _picker(story: _Story) -> list[LineComment]:
    sample, dice = story.sample, story.dice
    texts = [sample.small, sample.small]
    if story.day >= CHANGED_ON:
        texts += [sample.elsewhere, sample.small]
    if dice.random() < 0.3:
        texts.append(sample.praise)
    spots = [story.spot(text, below=at % 3) for at, text in enumerate(texts)]
    return story.writer.review(PICKER, body="", spots=spots)


def _people(story: _Story, sharp: list[LineComment]) -> list[LineComment]:
    """Say something too; who reads that the weakness is named seldom names it again."""
    writer, dice, sample = story.writer, story.dice, story.sample
    found = []
    for person in (MIRA, JONAS):
        if dice.random() < (0.1 if sharp else 0.55):
            text = dice.choices((sample.person, sample.small, sample.praise), (7, 2, 1))[0]
            found += writer.review(person, spots=[story.spot(text)])
    return found
