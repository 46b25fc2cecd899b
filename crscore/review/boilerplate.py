"""What review bots write around their remarks: patterns, as data.

Every pattern must match a whole unit or sentence, without the emoji, punctuation and
count ("(3)") at its ends, so that a remark which merely mentions a bot stays.
"""

from __future__ import annotations

import re
from typing import Final

_EDGES: Final = re.compile(r"^[\W_]+|(?:[\W_]|\(\d+\))+$")

# Titles of folded sections whose content is a log, a prompt for another program or a
# manual of the bot. A plain word counts only with the bot's own emoji before it.
_HIDDEN_SECTIONS: Final = (
    r"🧰 tools|🪧 tips|❤ share|📥 commits|💬 chat|🪄 autofix|🧪 generate unit tests|"
    r"🔧 run configuration",
    r"prompt for (?:[\w ]{1,40} )?(?:ai|llm) (?:agents?|assistants?)\b.*",  # Prompt for AI Agents
    r"prompt for \w+ code|fix (?:all )?with ai(?: agents?)?",  # Fix with AI
    r"analysis chain|scripts? executed|code graph analysis",  # 🧩 Analysis chain
    r"learnings used|learnings added|additional context used",  # 🧠 Learnings used
    r"(?:recent )?review details|configuration used",  # 📜 Recent review details
    r"files (?:selected for processing|ignored|skipped|not reviewed|with no reviewable)\b.*",
    r"finishing touches|sourcery is free for open source\b.*",
    r"(?:tips for|how to use|about|thanks? (?:you )?for using) .{0,60}(?:rabbit|copilot|sourcery|"
    r"gemini|qodo|pr-?agent)\b.*",  # ❤️ Thanks for using CodeRabbit
    r"(?:new to|using) (?:coderabbit|sourcery|gemini code assist)\b.*",  # About Gemini Code Assist
    r"tool usage guide:?|instructions and tips for the bot",  # PR-Agent's own manual
)

_BOILERPLATE: Final = (
    # Titles that every review of a bot carries and that say nothing of the change.
    r"walkthrough|changes|summary|summary of changes|pull request overview|code review",
    r"(?:pr|pull request) (?:reviewer guide|code suggestions|review|summary|analysis)",
    r"reviewer.?s guide|key issues to review|overall comments|individual comments|highlights",
    r"(?:summary|review) by (?:coderabbit|copilot|sourcery|qodo|gemini(?: code assist)?)",
    r"(?:reviewed changes|show a summary per file|files?|description|poem|changed files)",
    r"sequence diagrams?(?:\(s)?|cohort / file\(s|file-level changes|category|impact",
    r"(?:additional comments|nitpick comments|duplicate comments|actionable comments)"
    r"(?: posted: \d+)?",  # 🧹 Nitpick comments (3)
    r"some comments are outside the diff\b.{0,60} posted inline\b.{0,60}|comment \d+",
    r"explore these optional code suggestions",  # PR-Agent
    r"comments failed to post|(?:outside diff range|review) comments",
    r"comments suppressed due to low confidence|committable suggestion",
    r"(?:proposed|suggested) (?:fix|change|changes|diff|refactor|code changes?|patch)",
    # Labels of severity: "⚠️ Potential issue | 🟠 Major | ⚡ Quick win".
    r"(?:potential issue|refactor suggestion|nitpick|verification agent|major|minor|critical|"
    r"trivial|low|medium|high|info|quick win|heavy lift|poor tradeoff|"
    r"(?:low|medium|high|critical)[ -](?:priority|severity)|\W)+",
    # Greetings and farewells.
    r"thank(?:s| you) for using (?:coderabbit|sourcery|copilot|gemini|qodo|pr-?agent)",
    r"it's free for oss\b.{0,100}",
    r"(?:hey|hi|hello)(?: there| @?[\w\[\]-]+)?[ ,!-]+(?:i've|i have|we've) reviewed "
    r"(?:your|this|these) (?:changes?|pull request|pr)(?: and they look great| and found "
    r"some issues that need to be addressed)?"
    r"(?:(?: -|,)? (?:and )?here's some (?:high[- ]level )?feedback)?",
    r"(?:and )?here(?:'s| is) some (?:high[- ]level )?feedback",
    r"(?:hello|hi|hey) @?[\w\[\]-]+, i'm gemini code assist\b.{0,10}",
    r"i'm currently reviewing this pull request and will post my feedback shortly",
    r"in the meantime, here's a summary .{0,80}",
    # Counters.
    # Copilot reviewed 3 out of 4 changed files in this pull request and generated 1 comment.
    r"(?:copilot|coderabbit|cubic|sourcery|greptile|bugbot)(?: ai)? (?:has )?(?:reviewed \d+ out "
    r"of \d+ .{0,100}|"
    r"found \d+ (?:potential )?(?:issues?|problems?)(?: (?:across|in) \d+ files?)?)",
    r"\d+ (?:files? reviewed|issues? found|comments?)(?:, \d+ (?:comments?|issues?))?",
    r"(?:estimated|total) (?:code )?(?:review )?effort(?: to review)?(?: \[1-5\])?(?:: .{0,40})?",
    r"\d \(\w{3,12}\) \| .{0,3}~?\d+ minutes",  # 🎯 3 (Moderate) | ⏱️ ~25 minutes
    r"(?:also applies to|applies to|lines?): ?[\d, -]+",  # Also applies to: 12-14
    # Footers.
    r"(?:was this|(?:was|is|did you find) this (?:review|comment|suggestion)) (?:helpful|useful)"
    r"(?:\? (?:react|reply|give|👍|👎).{0,80})?",
    r"(?:please )?(?:react|reply|click|vote|give feedback|leave (?:a )?feedback) "
    r"(?:with|on|by|to) .{0,40}(?:👍|👎|thumbs[ -]?up|:\+1:).{0,120}",
    r"help me be more useful|share your feedback(?: on discord)?",
    r"sourcery is free for open source\b.{0,100}|mastodon|linkedin|facebook|reddit",
    r"(?:please )?click .{0,6} (?:or .{0,6} )?on each comment and i'll use the feedback\b.{0,60}",
    r"(?:this (?:is an? )?|note: this )?(?:auto(?:matically)?[- ]generated|automated) "
    r"(?:comment|review|summary|reply)s? (?:by|from|generated by) [\w .@\[\]-]{1,40}",
    r"(?:powered|generated|reviewed|written|posted) (?:by|with|using) (?:coderabbit|copilot|"
    r"github copilot|sourcery|gemini(?: code assist)?|qodo(?: merge)?|pr-?agent|claude(?: code)?|"
    r"chatgpt|cursor(?: bugbot)?|greptile|ellipsis)(?: (?:pro|ai|free))?",
    r"ensure that it accurately replaces the highlighted code\b.{0,80}",
    r"thoroughly test & benchmark the code to ensure it meets the requirements",
    r"(?:important )?carefully review the code before committing",
    r"check for mistakes|(?:tip: )?copilot can make mistakes\b.{0,40}|give feedback",
    r"copilot (?:uses ai|is powered by ai)[.,:;]? (?:so mistakes are possible|check for mistakes)",
    r"(?:fix|open) in (?:cursor|codex|claude code|vs ?code|web)",
    r"(?:apply|commit) (?:this )?suggestion|suggestion importance\[1-10\]: \d+",
)

# What programs leave for each other in comments and attributes of a review.
_MARKERS: Final = (
    r"\S*",  # tips_start, fingerprint:abc123, suggestion-id=42, eyJwciI6MTJ9
    r"(?:[\w.-]+ ){1,3}(?:start|begin|end|stop)",  # walkthrough section end
    # This is an auto-generated comment: summarize by coderabbit.ai
    r"(?:(?:start|begin|end|stop) (?:of )?)?(?:this is (?:an? )?)?auto(?:matically)?[- ]generated "
    r"(?:comment|reply|review|summary|section)s?\b[^.]{0,60}(?:\.(?:ai|com|io|dev))?",
    r"do not (?:edit|remove|delete|modify)(?: (?:this|the) (?:comment|line|marker|section))?",
    r"(?:[\w.-]{1,40} ?[:=] ?[\w./+@-]{1,80}[,;]? ?){1,20}",  # id: 12 sha: 9fe2
    r"[{\[].*[}\]]",  # {"version": 2, "sha": "9fe2"}
    r"internal state|state|metadata|(?:bot )?comment (?:id|marker)",
)

_COUNT: Final = r"\W*(?:\(\w+\))?\W*"
_HIDDEN_SECTION: Final = re.compile(rf"\W*(?:{'|'.join(_HIDDEN_SECTIONS)}){_COUNT}", re.IGNORECASE)
_BOILERPLATE_TEXT: Final = re.compile("|".join(_BOILERPLATE), re.IGNORECASE)
_MARKER: Final = re.compile("|".join(_MARKERS), re.IGNORECASE | re.DOTALL)
_SHORTEST: Final = 3
_LONGEST: Final = 300


def is_hidden_section(title: str) -> bool:
    """Whether a folded section of this title holds logs, prompts or a bot's manual.

    Example:
        >>> is_hidden_section("🤖 Prompt for AI Agents"), is_hidden_section("Why this is slow")
        (True, False)
    """
    return len(title) <= _LONGEST and _HIDDEN_SECTION.fullmatch(title) is not None


def is_boilerplate(text: str) -> bool:
    """Whether a unit or sentence is decoration that a bot puts around its remarks.

    Example:
        >>> is_boilerplate("Thanks for using CodeRabbit!"), is_boilerplate("This leaks memory.")
        (True, False)
    """
    if not _SHORTEST <= len(text) <= _LONGEST:
        return False
    return _BOILERPLATE_TEXT.fullmatch(_EDGES.sub("", text.replace("’", "'"))) is not None


def is_marker(text: str) -> bool:
    """Whether a hidden text is one that a program left for a program.

    Such a text is no attempt to be scored for what nobody reads: a fingerprint, the border of
    a section, stored state, a single word.

    Example:
        >>> is_marker("fingerprint:abc123"), is_marker("The limit is never checked.")
        (True, False)
    """
    bare = text.strip()
    return len(bare.split(None, 1)) < 2 or (
        len(bare) <= _LONGEST and _MARKER.fullmatch(bare.rstrip(".!")) is not None
    )
