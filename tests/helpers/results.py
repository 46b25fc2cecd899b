"""Results made by hand, for the tests of reports: no pipeline runs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace

from crscore.records import (
    Aspects,
    Baselines,
    ChangedFile,
    Comment,
    CommentResult,
    Diff,
    DiffLine,
    Effect,
    FileStatus,
    Flag,
    Hunk,
    Importance,
    LineKind,
    LineSpan,
    Match,
    PseudoReference,
    Reading,
    Receipt,
    ReferenceKind,
    Remark,
    Result,
    ReviewResult,
    Scope,
    ScopeKind,
    Scores,
    Sentence,
    Share,
    Side,
    Stance,
    Subject,
    Suggestion,
    Topic,
    TopicState,
    Usefulness,
    Verdict,
)
from crscore.scoring.assembly import score_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

THRESHOLD = 0.65
SIGNATURE = (
    "crscore|version:0.1.0|claims:structural@1|encoder:minilm:all-MiniLM-L6-v2@53aa5117|tau:0.65"
)
DECISION = 0.35
"""The degree from which `learned` takes a pair as matched."""
SHORT_SIGNATURE = "crscore 0.1.0 · minilm · structural · no analyzers · id 377730f"
LEARNED = SIGNATURE.replace("tau:0.65", "matcher:calibrated@1234abcd.0")
KINDS = {"+": LineKind.ADDED, "-": LineKind.REMOVED, " ": LineKind.CONTEXT}


def hunk(old_start: int, new_start: int, body: str, section: str = "") -> Hunk:
    """Read hunk lines as they stand in a diff."""
    old, new = old_start, new_start
    lines = []
    for row in body.strip("\n").split("\n"):
        sign = row[:1] or " "
        lines.append(
            DiffLine(
                kind=KINDS[sign],
                text=row[1:],
                old=None if sign == "+" else old,
                new=None if sign == "-" else new,
            )
        )
        old += sign != "+"
        new += sign != "-"
    return Hunk(
        old_start=old_start,
        old_length=old - old_start,
        new_start=new_start,
        new_length=new - new_start,
        section=section,
        lines=tuple(lines),
    )


def changed(path: str, *hunks: Hunk, status: FileStatus = FileStatus.MODIFIED) -> ChangedFile:
    suffix = path.rpartition(".")[2]
    language = {"py": "python", "toml": "toml", "md": "markdown"}.get(suffix)
    return ChangedFile(path=path, old_path=None, status=status, language=language, hunks=hunks)


def diff_of(*files: ChangedFile, notes: tuple[str, ...] = ()) -> Diff:
    digest = hashlib.sha256(repr(files).encode("utf-8", "surrogatepass")).hexdigest()
    return Diff(files=files, sha256=digest, notes=notes)


def reference(
    text: str,
    *spans: tuple[str, int, int],
    kind: ReferenceKind = ReferenceKind.CLAIM,
    side: Side = Side.NEW,
    weight: float = 1.0,
    counted: bool = True,
    identifiers: tuple[str, ...] = (),
    topic: Topic | None = None,
) -> PseudoReference:
    return PseudoReference(
        text=text,
        kind=kind,
        source="structural",
        spans=tuple(LineSpan(path=p, side=side, start=a, end=b) for p, a, b in spans),
        identifiers=identifiers,
        weight=weight,
        counted=counted,
        topic=topic,
    )


def topic(
    name: str,
    place: tuple[str, int, int],
    *,
    noun: str = "class",
    state: TopicState = TopicState.NEW,
    lines: int = 110,
) -> Topic:
    side = Side.OLD if state is TopicState.REMOVED else Side.NEW
    span = LineSpan(path=place[0], side=side, start=place[1], end=place[2])
    return Topic(name=name, noun=noun, state=state, lines=lines, place=span)


@dataclass(frozen=True)
class Said:
    """One comment with its sentences."""

    comment: Comment
    sentences: tuple[str, ...]
    suggestions: tuple[str, ...] = ()
    scope: Scope = Scope(kind=ScopeKind.DIFF)  # noqa: RUF009


def _judged(code: str) -> Suggestion:
    return Suggestion(code=code, applies=True, parses=True, effect=Effect.BEHAVIOUR)


def scores_of(
    similarity: npt.NDArray[np.float32], rows: Sequence[int], columns: Sequence[int]
) -> Scores:
    """Apply the published rule to a part of the matrix."""
    if not rows or not columns:
        side = "pseudo-references" if not rows else "sentences"
        return Scores(
            conciseness=None,
            comprehensiveness=None,
            relevance=None,
            matched_sentences=0,
            sentences=len(columns),
            matched_references=0,
            references=len(rows),
            reason=f"there are no {side} to compare with",
        )
    above = similarity[np.ix_(rows, columns)] > THRESHOLD
    matched_s = int(above.any(axis=0).sum())
    matched_r = int(above.any(axis=1).sum())
    con, comp = matched_s / len(columns), matched_r / len(rows)
    return Scores(
        conciseness=con,
        comprehensiveness=comp,
        relevance=2 * con * comp / (con + comp) if con + comp else 0.0,
        matched_sentences=matched_s,
        sentences=len(columns),
        matched_references=matched_r,
        references=len(rows),
    )


def _best(values: npt.NDArray[np.float32], allowed: Sequence[int]) -> Match:
    if not allowed:
        return Match(index=None, similarity=None, degree=None, matched=False)
    index = max(allowed, key=lambda i: float(values[i]))
    value = float(values[index])
    matched = value > THRESHOLD
    return Match(index=index, similarity=value, degree=float(matched), matched=matched)


def make(
    diff: Diff,
    references: Sequence[PseudoReference],
    comments: Sequence[Said],
    similarity: Sequence[Sequence[float]] | npt.NDArray[np.float32],
    *,
    notes: tuple[str, ...] = (),
    signature: str = SIGNATURE,
) -> Result:
    """Put a result together from what was compared and the matrix."""
    sentences = tuple(
        Sentence(text=text, comment=i) for i, item in enumerate(comments) for text in item.sentences
    )
    matrix = np.asarray(similarity, dtype=np.float32).reshape(len(references), len(sentences))
    matrix.flags.writeable = False
    counted = [i for i, item in enumerate(references) if item.counted]
    everything = list(range(len(sentences)))
    own = [[s for s in everything if sentences[s].comment == i] for i in range(len(comments))]
    authors = list(dict.fromkeys(item.comment.author for item in comments))
    written = [
        [i for i, item in enumerate(comments) if item.comment.author == who] for who in authors
    ]
    return Result(
        diff=diff,
        references=tuple(references),
        sentences=sentences,
        similarity=matrix,
        degrees=(matrix > THRESHOLD).astype(np.float32),
        sentence_flags=(None,) * len(sentences),
        sentence_matches=tuple(_best(matrix[:, s], counted) for s in everything),
        reference_matches=tuple(_best(matrix[r], everything) for r in range(len(references))),
        comments=tuple(
            CommentResult(
                comment=item.comment,
                scope=item.scope,
                scores=scores_of(matrix, _in_scope(references, item.scope), own[i]),
                sentences=tuple(own[i]),
                references=tuple(_in_scope(references, item.scope)),
                suggestions=tuple(_judged(code) for code in item.suggestions),
            )
            for i, item in enumerate(comments)
        ),
        reviews=tuple(
            ReviewResult(
                author=who,
                scores=scores_of(matrix, counted, [s for i in mine for s in own[i]]),
                baselines=_baselines([comments[i] for i in mine]),
                comments=tuple(mine),
            )
            for who, mine in zip(authors, written, strict=True)
        ),
        scores=scores_of(matrix, counted, everything),
        baselines=_baselines(comments),
        threshold=THRESHOLD,
        decision=0.5,
        signature=signature,
        notes=notes,
    )


def _in_scope(references: Sequence[PseudoReference], scope: Scope) -> list[int]:
    if scope.kind is ScopeKind.DIFF:
        return [i for i, item in enumerate(references) if item.counted]
    return [
        i
        for i, item in enumerate(references)
        if any(span.path == scope.path for span in item.spans)
    ]


def _baselines(comments: Sequence[Said]) -> Baselines:
    words = sum(len(text.split()) for item in comments for text in item.sentences)
    return Baselines(words=words, repeated_tokens=0.31 if words else None)


CLIENT = changed(
    "src/shop/client.py",
    hunk(
        10,
        10,
        """
 class Client:
-    def fetch(self, url):
-        return self.session.get(url)
+    def fetch(self, url, retries=3):
+        for attempt in range(retries):
+            try:
+                return self.session.get(url, timeout=TIMEOUT)
+            except Exception:
+                time.sleep(2 ** attempt)
+        return None

     def close(self):
""",
        "class Client:",
    ),
    hunk(
        40,
        45,
        """
 def parse(body):
-    assert body
     return json.loads(body)
""",
        "def parse(body):",
    ),
)
SETTINGS = changed(
    "config/settings.toml",
    hunk(1, 1, '\n [http]\n-timeout = 10\n+timeout = 30\n+proxy = ""\n'),
)
LEGACY = changed(
    "src/shop/legacy.py",
    hunk(1, 0, "\n-def old_fetch(url):\n-    return urlopen(url)\n"),
    status=FileStatus.DELETED,
)

REFERENCES = (
    reference(
        "The method `fetch` of `Client` now retries up to `retries` times, three by default.",
        ("src/shop/client.py", 11, 16),
        identifiers=("fetch", "Client", "retries"),
    ),
    reference(
        "The broad `except Exception` hides errors that are not about the network.",
        ("src/shop/client.py", 15, 15),
        kind=ReferenceKind.ISSUE,
        weight=0.95,
        identifiers=("Exception",),
    ),
    reference(
        "`fetch` returns `None` when all attempts fail, so callers must handle a missing answer.",
        ("src/shop/client.py", 17, 17),
        kind=ReferenceKind.IMPLICATION,
        weight=0.9,
        identifiers=("fetch",),
    ),
    reference(
        "The check that `body` is not empty was removed from `parse`.",
        ("src/shop/client.py", 41, 41),
        side=Side.OLD,
        weight=0.8,
        identifiers=("parse", "body"),
    ),
    reference(
        "The value of `timeout` in `http` changes from 10 to 30.",
        ("config/settings.toml", 2, 2),
        weight=0.7,
        identifiers=("timeout", "http"),
    ),
    reference(
        "A setting `proxy` is added to `http`, empty by default.",
        ("config/settings.toml", 3, 3),
        weight=0.6,
        identifiers=("proxy",),
    ),
    reference("The file `src/shop/legacy.py` is deleted.", weight=0.5),
    reference(
        "The call `self.session.get` is now given `timeout`.",
        ("src/shop/client.py", 14, 14),
        weight=0.2,
        counted=False,
    ),
)


def small() -> Result:
    """One unattached review of two sentences; two of three pseudo-references addressed."""
    return make(
        diff_of(CLIENT),
        REFERENCES[:3],
        (
            Said(
                Comment(body="..."),
                ("Retrying in `fetch` is a good idea.", "Please rename this file."),
            ),
        ),
        [[0.8215, 0.2], [0.31, 0.1004], [0.66, 0.05]],
    )


def review() -> Result:
    """Three files, two authors and an unknown one, attached comments, suggestions and notes."""
    message_text = (
        Said(
            Comment(
                body="b",
                path="src/shop/client.py",
                line=15,
                start_line=13,
                author="mira",
                id="101",
            ),
            (
                "Catching `Exception` here hides real bugs, please catch the network error only.",
                "Why three retries?",
            ),
            ("            except requests.RequestException:\n",),
            Scope(kind=ScopeKind.HUNK, path="src/shop/client.py", hunk=0),
        ),
        Said(
            Comment(body="b", path="config/settings.toml", line=2, author="mira", id="102"),
            ("Is a timeout of 30 seconds per attempt not too long when we retry three times?",),
            (),
            Scope(kind=ScopeKind.FILE, path="config/settings.toml"),
        ),
        Said(
            Comment(
                body="b", path="src/shop/client.py", line=41, side=Side.OLD, author="review-bot"
            ),
            ("The emptiness check of `body` in `parse` was dropped.", "Looks great overall!"),
            (),
            Scope(kind=ScopeKind.HUNK, path="src/shop/client.py", hunk=1),
        ),
        Said(Comment(body="b"), ("Thanks for the quick turnaround.",)),
    )
    matrix = [
        [0.4312, 0.6820, 0.6611, 0.2011, 0.1203, 0.0510],
        [0.8123, 0.1910, 0.1522, 0.1400, 0.0822, -0.0312],
        [0.3901, 0.2712, 0.2202, 0.3322, 0.1010, 0.0402],
        [0.2102, 0.0811, 0.0931, 0.8644, 0.1411, 0.0212],
        [0.1201, 0.3011, 0.7423, 0.1190, 0.0911, 0.0811],
        [0.0911, 0.0712, 0.2911, 0.1012, 0.0401, 0.0301],
        [0.1511, 0.1212, 0.0812, 0.1812, 0.2011, 0.1601],
        [0.2911, 0.2212, 0.5533, 0.1211, 0.0611, 0.0101],
    ]
    return make(
        diff_of(CLIENT, SETTINGS, LEGACY, notes=("One binary file was left out.",)),
        REFERENCES,
        message_text,
        matrix,
        notes=("One code block was kept apart from the sentences.",),
    )


HOSTS = topic("HostAuthorization", ("src/shop/client.py", 12, 122))
FETCH = topic(
    "Client.fetch", ("src/shop/client.py", 11, 17), noun="method", state=TopicState.CHANGED, lines=9
)
OLD_FETCH = topic(
    "old_fetch", ("src/shop/legacy.py", 1, 2), noun="function", state=TopicState.REMOVED, lines=2
)


def topics() -> Result:
    """Three topics: a new one, one that a sentence addresses by its detail, and a removed one.

    The sentence is also above the threshold for a claim of the removed one that does not count. The
    last claim has no topic.
    """
    new, changed_, removed = HOSTS.place, FETCH.place, OLD_FETCH.place
    at = {item: (item.path, item.start, item.start) for item in (new, changed_, removed)}
    references = (
        reference("Requests of unknown hosts are blocked.", at[new], weight=0.7, topic=HOSTS),
        reference("The class `HostAuthorization` is new.", at[new], weight=0.9, topic=HOSTS),
        reference("The method `fetch` has changed.", at[changed_], weight=0.8, topic=FETCH),
        reference("`fetch` now retries.", at[changed_], weight=0.6, topic=FETCH),
        reference(
            "`old_fetch` was removed.", at[removed], side=Side.OLD, weight=0.5, topic=OLD_FETCH
        ),
        reference(
            "Nobody retries.", at[removed], side=Side.OLD, weight=0.4, counted=False,
            topic=OLD_FETCH,
        ),
        reference("The value of `timeout` is 30.", ("config/settings.toml", 2, 2), weight=0.3),
    )  # fmt: skip
    comments = (Said(Comment(body="b"), ("Retrying in `fetch` is a good idea.",)),)
    matrix = [[0.1], [0.1], [0.2], [0.9], [0.1], [0.8], [0.1]]
    return make(diff_of(CLIENT, SETTINGS, LEGACY), references, comments, matrix)


def abstained() -> Result:
    """A review without a sentence: no score, a reason."""
    return make(diff_of(SETTINGS), REFERENCES[4:6], (Said(Comment(body=""), ()),), [[], []])


EVIL = (
    '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
    " **bold** [link](https://evil.example/x) ![pic](http://evil.example/p.png)"
    " `tick` ``two`` | a |"
    " \x1b[31mred\x1b[0m\x1b]0;title\x07 \x9b2Jc1 \u202etxt.exe\u202c zero\u200bwidth"
    " \x00\x08bell\x07"
    " @maintainer #12 GH-34 owner/repo#56 0123456789abcdef0123456789abcdef01234567"
    " www.evil.example $x$ \\ ``` ~~~ --> ]]> </style></title></td></details> {{ 7*7 }} {% x %}"
    " ##[error]old \r\n::error::pwned \u2028 \ud800 &lt;b&gt; ' \" <!-- "
)
"""What every echoed field of `hostile` carries."""


def hostile() -> Result:
    """Every echoed field carries markup, terminal codes, mentions and runner commands."""
    path = f"src/{EVIL}.py"
    body = "+" + EVIL.replace("\r\n", " ").replace("\u2028", " ") + "\n+" + "x" * 5_000 + "\n-`|`\n"
    scope = Scope(kind=ScopeKind.HUNK, path=path, hunk=0)
    comment = Comment(body=EVIL, path=path, line=1, author=EVIL, id=EVIL, diff_hunk=EVIL)
    message_text = (
        Said(comment, (EVIL, "`" + EVIL + "`", "::error::start"), (EVIL,), scope),
        Said(
            replace(comment, author="b" + EVIL, line=2), ("long " * 4_000, "w" * 9_000), (), scope
        ),
    )
    references = (
        reference(EVIL, (path, 1, 1), identifiers=(EVIL,)),
        replace(
            reference("::warning::" + EVIL * 20, (path, 1, 2), identifiers=("`" * 9,)),
            source=EVIL,
            topic=topic(EVIL, (path, 1, 2)),
        ),
        reference("#" * 300 + "> - 1. + * _ ~ [x]", (path, 2, 2), weight=0.5),
    )
    file = replace(
        changed(path, hunk(1, 1, body, EVIL), status=FileStatus.RENAMED),
        old_path="old/" + path,
        language=EVIL,
    )
    return make(
        diff_of(file, notes=(EVIL,)),
        references,
        message_text,
        [[0.9, 0.1, 0.2, 0.3, 0.4], [0.1] * 5, [0.2] * 5],
        notes=("::error::" + EVIL,),
        signature="sig " + EVIL,
    )


def learned(result: Result, flags: Sequence[Flag | None] = ()) -> Result:
    """Judge a result again as a matcher with degrees does: half of each cosine above 0.

    A sentence with a flag has degree 0, one that restates keeps all. Without `flags` nothing
    is odd. Hidden text gets its flag.
    """
    flags = tuple(flags) or (None,) * len(result.sentences)
    share = [flag in (None, Flag.RESTATES) for flag in flags]
    degrees = (np.maximum(result.similarity, 0) * np.array(share) / 2).astype(np.float32)
    degrees.flags.writeable = False
    counted = [i for i, item in enumerate(result.references) if item.counted]
    everything = range(len(result.sentences))

    def judged(rows: Sequence[int], columns: Sequence[int], before: Scores) -> Scores:
        if before.reason is not None:
            return before
        return score_cells(degrees[np.ix_(rows, columns)])

    def best(
        cosines: npt.NDArray[np.float32], values: npt.NDArray[np.float32], among: Sequence[int]
    ) -> Match:
        if not among:
            return Match(index=None, similarity=None, degree=None, matched=False)
        index = max(among, key=lambda i: (values[i], cosines[i]))
        degree = float(values[index])
        return Match(
            index=index, similarity=float(cosines[index]), degree=degree, matched=degree >= DECISION
        )

    cosines = result.similarity
    return replace(
        result,
        degrees=degrees,
        sentences=tuple(
            replace(item, hidden=flag is Flag.HIDDEN)
            for item, flag in zip(result.sentences, flags, strict=True)
        ),
        sentence_flags=flags,
        sentence_matches=tuple(best(cosines[:, s], degrees[:, s], counted) for s in everything),
        reference_matches=tuple(
            best(cosines[r], degrees[r], everything) for r in range(len(result.references))
        ),
        comments=tuple(
            replace(item, scores=judged(item.references, item.sentences, item.scores))
            for item in result.comments
        ),
        reviews=tuple(
            replace(
                item,
                scores=judged(
                    counted,
                    [s for i in item.comments for s in result.comments[i].sentences],
                    item.scores,
                ),
            )
            for item in result.reviews
        ),
        scores=judged(counted, everything, result.scores),
        threshold=None,
        decision=DECISION,
        signature=result.signature.replace(SIGNATURE, LEARNED),
    )


AGAINST = "399 reviews by people and bots"


def standing(value: int, word: str = "useful", **changes: object) -> Usefulness:
    """How useful a text is: better than `value` percent."""
    aspects = Aspects(relevant=0.88, informative=0.71, clear=0.95)
    values = {"about": 0.91, "importance": 0.78, "aspects": aspects, "shares": ()}
    values |= {"taken_off": 0.0, "value": 0.71}
    values |= {"standing": value, "word": word, "against": AGAINST, "among_bots": value // 2}
    values |= {"low": max(0, value - 20), "high": min(100, value + 10)}
    return Usefulness(**{**values, **changes})


def make_reading(
    stance: Stance = Stance.REQUEST, actionable: float = 0.78, **changes: object
) -> Reading:
    """A reading about the change as a whole, unless `changes` say otherwise."""
    values = {"about": 0.9, "subject": Subject.CHANGE, "reference": None}
    return Reading(stance=stance, actionable=actionable, **{**values, **changes})


def remark_of(sentence: int, comment: int, reading: Reading, **changes: object) -> Remark:
    """A remark of one sentence; the first sentence makes the most important one."""
    importance, level = LEVELS[min(sentence, len(LEVELS) - 1)]
    values = {"comment": comment, "sentences": (sentence,), "stance": reading.stance}
    values |= {"actionable": reading.actionable, "importance": 4 * importance, "level": level}
    values |= {"about": reading.about, "worth": 1 + 4 * reading.actionable / (sentence + 1)}
    values |= {"specific": 0.6, "acts": 0.4}
    return Remark(**{**values, **changes})


LEVELS = (
    (0.9, Importance.CRITICAL), (0.7, Importance.MAJOR), (0.5, Importance.MINOR),
    (0.2, Importance.NIT),
)  # fmt: skip


def useful(result: Result, *readings: Reading, whole: Usefulness | None = None) -> Result:
    """Add how its sentences read, each a remark, and how useful it and its parts are.

    Missing readings ask for a change, and are about the first claim. A sentence addresses the claim
    that it is about. The shares are 0.4, 0.2, 0.1, 0.05 and so on; 0.02 is taken off for remarks
    that give nothing.
    """
    claim = (
        make_reading(subject=Subject.CLAIM, reference=0) if result.references else make_reading()
    )
    rest = (claim,) * (len(result.sentences) - len(readings))
    readings = (*readings, *rest)
    pairs = enumerate(zip(result.sentences, readings, strict=True))
    remarks = tuple(remark_of(at, sentence.comment, item) for at, (sentence, item) in pairs)
    whole = whole or standing(83)
    shares = tuple(Share(remark=at, value=0.4 / 2**at) for at in range(len(remarks)))
    taken_off = 0.0 if all(remark.is_valuable for remark in remarks) else 0.02
    value = sum(share.value for share in shares) - taken_off
    subjects = {reading.reference for reading in readings}
    return replace(
        result,
        reference_matches=tuple(
            replace(match, matched=match.matched or row in subjects)
            for row, match in enumerate(result.reference_matches)
        ),
        readings=readings,
        remarks=remarks,
        usefulness=replace(whole, shares=shares, taken_off=taken_off, value=value),
        comments=tuple(replace(item, usefulness=standing(61)) for item in result.comments),
        reviews=tuple(
            replace(item, usefulness=standing(12, "little use", importance=0.2))
            for item in result.reviews
        ),
    )


REFUTED = Receipt(
    verdict=Verdict.REFUTED,
    says="`fetch` tries three times",
    fact="`fetch` tries `retries` times in line 13.",
    lines=(LineSpan(path="src/shop/client.py", side=Side.NEW, start=13, end=13),),
)
CONFIRMED = Receipt(
    verdict=Verdict.CONFIRMED, says="`Exception` is caught", fact="`fetch` catches `Exception`.",
    lines=(LineSpan(path="src/shop/client.py", side=Side.NEW, start=15, end=15),),
)  # fmt: skip


def decided(refuted: Receipt = REFUTED) -> Result:
    """The review, with a first remark that the code confirms and a second one that it refutes."""
    result = useful(review())
    first, second, *others = result.remarks
    first, second = replace(first, receipt=CONFIRMED), replace(second, receipt=refuted, worth=1.0)
    value, shares = result.usefulness, result.usefulness.shares
    shares = (shares[0], *shares[2:], replace(shares[1], value=0.0))
    total = sum(share.value for share in shares)
    value = replace(value, shares=shares, taken_off=0.02, value=total - 0.02)
    return replace(result, remarks=(first, second, *others), usefulness=value)


def hostile_decided() -> Result:
    """The hostile review; its receipts are hostile, too."""
    lines = tuple(LineSpan(path=f"src/{EVIL}.py", side=Side.NEW, start=at, end=at) for at in (1, 2))
    receipts = [
        Receipt(verdict=verdict, says=EVIL, fact=f"::error::{EVIL}", lines=lines)
        for verdict in (Verdict.REFUTED, Verdict.CONFIRMED)
    ]
    result = useful(hostile())
    remarks = tuple(
        replace(remark, receipt=receipt)
        for remark, receipt in zip(result.remarks, [*receipts, None, None, None], strict=True)
    )
    return replace(result, remarks=remarks)


def hostile_useful() -> Result:
    """The hostile result with readings; the word and the comparison are hostile, too."""
    readings = [
        make_reading(),
        make_reading(Stance.OTHER, 0.1, subject=Subject.ELSEWHERE),
    ]
    readings += [make_reading(subject=Subject.CLAIM, reference=at) for at in range(2)]
    return useful(hostile(), *readings, whole=standing(7, f"off {EVIL}", against=EVIL))


def flagged() -> Result:
    """The review as a matcher with degrees judges it; four of its six sentences are odd."""
    return learned(
        review(),
        (None, Flag.NO_SENTENCE, Flag.RESTATES, None, Flag.REPEATS, Flag.HIDDEN),
    )


def large(size: int = 60) -> Result:
    """As many pseudo-references as sentences, on a change of `20 * size` lines."""
    file = changed(
        "src/big.py",
        *(
            hunk(
                30 * i + 1,
                30 * i + 1,
                "\n".join(f"+    value_{i}_{j} = compute({j})" for j in range(20)),
            )
            for i in range(size)
        ),
    )
    references = tuple(
        reference(
            f"The variable `value_{i}_3` is added and set to what `compute` gives for 3.",
            ("src/big.py", 30 * i + 4, 30 * i + 4),
            weight=1 / (1 + i),
        )
        for i in range(size)
    )
    message_text = (
        Said(
            Comment(body="b"), tuple(f"Is `value_{i}_3` really needed here?" for i in range(size))
        ),
    )
    values = np.random.default_rng(7).uniform(0, 0.6, (size, size)).astype(np.float32)
    values[np.arange(0, size, 2), np.arange(0, size, 2)] = 0.91
    return make(diff_of(file), references, message_text, values)
