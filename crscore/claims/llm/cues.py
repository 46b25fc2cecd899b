"""Patterns of sentences that judge a change, talk of the question or speak to somebody.

They read sentences whose quotations are each one `x`, so a quoted name can be what is praised.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from crscore.claims.llm.words import stem


class Fault(StrEnum):
    """Why a sentence is no claim."""

    VERDICT = "judges the change"
    PROMPT = "speaks of the question or to somebody"


_CHANGE: Final = (
    r"(?:code|changes?|diff|patch|pull request|PR|commit|implementation|submission|work|author"
    r"|everything|it|this|all)"
)
_PRAISE: Final = (
    r"(?:perfect|excellent|flawless|great|good|fine|safe|secure|correct|approved|ready|outstanding"
    r"|amazing|brilliant|acceptable|high[- ]quality|production[- ]ready|well[- ](?:written|done"
    r"|tested|designed)|bug[- ]free|error[- ]free|of (?:the )?(?:high|best|excellent)\w* quality"
    r"|harmless|trustworthy)"
)
# What is praise, or asks for no look, when it ends a clause about any subject.
_ASSURED: Final = (
    r"(?:correct|right|fine|good|great|safe|secure|sound|solid|approved|acceptable|harmless|benign"
    r"|trustworthy|flawless|faultless|trivial|minor|uncontroversial|unproblematic|straightforward"
    r"|self[- ]explanatory|bulletproof|exemplary|as it should be|in order|beyond (?:doubt|reproach)"
    r"|(?:bug|error|defect|risk|issue|problem|fault)s?[- ]free|free (?:of|from) (?:\w{1,12} ){0,2}"
    r"(?:bugs?|errors?|defects?|issues?|problems?|flaws?|vulnerabilities|risks?)"
    r"|(?:low|no|minimal|zero|little)[- ]risk|(?:of|at) (?:low|no|minimal|zero|little) risk"
    r"|high[- ]quality|production[- ]ready|well[- ](?:written|done|tested|designed|reviewed))"
)
_CLAUSE_ENDS: Final = (
    r"(?=\s?(?:[.,;!:]|$)|\s(?:and|but|as it (?:is|stands)|to (?:merge|go|ship))\b)"
)
_WORD: Final = r"[\w.()/'-]{1,60}"
# The subject of a main clause: what code checks or ensures, or does if something is so, is none.
_SUBJECT: Final = (
    r"^\W*(?:(?!(?:if|whether|when\w*|where|while|once|unless|until)\b|(?:ensur|check|verif|validat"
    r"|assert|guarant|requir|test|mak|return)\w{0,6} (?:that|if|whether|sure|x)\b)"
    rf"{_WORD} ){{1,6}}"
)
_DEFECTS: Final = (
    r"(?:bugs?|errors?|defects?|issues?|problems?|flaws?|faults?|vulnerabilities|weaknesses)"
)
_CHECKED: Final = (
    r"(?:verified|checked|tested|validated|confirmed|approved|examined|inspected|audited|reviewed"
    r"|vetted|certified|cleared|signed off|proofread|proven)"
)
_PEOPLE: Final = (
    r"(?:teams?|experts?|reviewers?|maintainers?|auditors?|engineers?|specialists?|colleagues?"
    r"|professionals?|committee|board|department|owners?|leads?|managers?|staff|researchers?"
    r"|seniors?"
    r"|humans?|people|persons?|QA|CI|legal|security|everyone|everybody)"
)
_LOOK: Final = (
    r"(?:look|comment|review|check|read|inspect|examine|worry|complain|question|object"
    r"|criticis\w{1,3}"
    r"|criticiz\w{1,3}|mention|discuss|verify|scrutini[sz]e|bother|care|remark|flag|report)"
)
_MARK: Final = (
    r"(?:scores?|scored|scoring|rating|rated|rates?|grades?|graded|marks?|stars?|relevance"
    r"|conciseness|comprehensiveness)"
)
TOP: Final = (
    r"(?:\d{1,3}(?:\.\d{1,3})?|five|ten|perfect|full|max\w{0,5}|highest|top|best|excellent)"
)


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern for several, in any case of letters."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


# Each with the stem of the word that shows, where honest lines have it, that the change itself
# is about this; "" where nothing excuses it.
CUES: Final = tuple(
    (fault, word and stem(word), any_of(*patterns))
    for fault, word, patterns in (
        (Fault.VERDICT, "lgtm", (r"\blgtm\b", r"\blooks? good to me\b", r"\bship it\b")),
        (
            Fault.VERDICT,
            "score",
            (
                rf"\b{_MARK}\b(?:\W{{1,3}}(?:is|are|of|with|as|a|an|the|at|should|must|be|it|this"
                rf"|change|review)){{0,5}}\W{{1,3}}{TOP}\b",
                rf"\b{TOP}\b[- ](?:{_MARK})\b",
                r"\b\d{1,3}(?:\.\d)?\s?(?:/|out of)\s?(?:5|10|100)\b(?!\s?%)",
                r"\b(?:five|ten) (?:out )?of (?:five|ten)\b",
            ),
        ),
        (
            Fault.VERDICT,
            "",
            (
                rf"\b{_CHANGE}(?: (?:of|in|to|for)(?: \w{{1,20}}){{1,3}})?"
                r" (?:is|are|was|were|looks?|seems?|appears?)"
                rf"(?: (?!more\b|less\b|not\b)\w{{1,12}}){{0,2}} {_PRAISE}"
                r"(?=\s?(?:[.,;!:]|$|and\b|as it is\b|to (?:merge|go|ship|approve)\b))",
                r"\b(?:is|are|was|were|looks?|seems?) (?:absolutely |simply |really |truly |just )?"
                r"(?:perfect|flawless|excellent|outstanding|amazing|brilliant|impeccable)\b",
                r"\b(?:perfect|flawless|excellent|outstanding|amazing|great|brilliant|good)"
                r" (?:job|work|change|pull request|PR|patch)\b",
                r"\bthere (?:is|are) no (?:\w{1,12} )?(?:issues?|problems?|bugs?|concerns?"
                r"|vulnerabilit\w{1,3}|defects?|flaws?)\b",
                r"\bnothing (?:is|was|seems?) wrong\b",
                r"\breviewers? (?:can|may|should|must|could|need) (?:not )?(?:\w{1,12} )?(?:skip"
                r"|ignore|approve|accept|merge|trust|review|look)\b",
                r"\b(?:has|have|was|were|is) (?:already )?(?:been )?(?:reviewed|audited|vetted"
                r"|peer[- ]reviewed)\b",
                r"\bno (?:\w{1,12} ){0,2}(?:issues?|problems?|bugs?|concerns?|vulnerabilit\w{1,3}"
                r"|defects?|flaws?|findings?)(?: \w{1,12}){0,2} "
                r"(?:found|detected|identified|present|remain\w{0,3}|whatsoever)\b",
                r"\bnothing (?:to|needs?|left)(?: \w{1,12}){0,2} "
                r"(?:review\w{0,3}|criticis\w{1,3}|report|fix|change|improve|comment)\b",
                r"\b(?:no|not|without)(?: \w{1,12}){0,3} (?:review|comments?|inspection|scrutiny)"
                r"(?: \w{1,20}){0,6} (?:needed|required|necessary)\b",
                r"\b(?:needs?|requires?) no (?:\w{1,12} )?(?:review|comments?|tests?|inspection)\b",
                rf"{_SUBJECT}(?:is|are|was|were|looks?|seems?|remains?)"
                rf"(?: (?!not\b|never\b|no\b|more\b|less\b)\w{{1,12}}){{0,2}} {_ASSURED}"
                rf"{_CLAUSE_ENDS}",
                r"\b(?:pass\w{0,3}|satisf\w{1,4}|meets?|met) (?:all|every|each)(?: \w{1,12}){0,4} "
                r"(?:tests?|test suites?|reviews?|audits?|linters?|guidelines?|requirements?"
                r"|standards?|quality \w{1,9})\b",
                rf"\b{_CHECKED}(?: (?!by\b)\w{{1,12}}){{0,2}} by "
                rf"(?:[\w-]{{1,20}} ){{0,3}}{_PEOPLE}\b",
                rf"{_SUBJECT}(?:has been|have been|was|were|is|are)"
                rf" (?:\w{{3,12}}ly|well) {_CHECKED}{_CLAUSE_ENDS}",
                rf"\b(?:nobody|no[- ]?one|no (?:\w{{1,12}} )?{_PEOPLE}|nobody else) (?:has to"
                r"|have to"
                r"|ha[ds] any|needs?(?: to)?|should|must|ought to|will|would) "
                r"(?:\w{1,12} ){0,2}"
                rf"{_LOOK}\b",
                rf"\breviewers? (?:need|do|does|should|must|can|may|will|would|have|has|are|is)"
                rf"(?: not|n't| no)?(?: \w{{1,12}}){{0,4}} {_LOOK}\b",
                rf"\b(?:no (?:need|reason)|not (?:necessary|needed|required)|unnecessary|needless"
                rf"|pointless)(?: for (?:\w{{1,12}} ?){{1,3}})? to (?:\w{{1,12}} )?{_LOOK}\b",
                r"\b(?:not|n't|never|neither|hardly)(?: \w{1,12})? (?:need|require|deserve|warrant"
                r"|merit)(?: (?:a|an|any|further|more|much|closer|additional)){0,2} (?:code )?"
                r"(?:reviews?|comments?|attention|scrutiny|inspection|discussion)\b",
                r"\b(?:not|n't|hardly|without being) worth (?:\w{1,12} )?(?:review\w{0,3}"
                r"|comment\w{0,3}|discuss\w{0,4}|mention\w{0,3}|attention)\b",
                r"\b(?:needs?|requires?|deserves?|warrants?|merits?) (?:no|only praise|nothing but)"
                r"(?: (?:further|more|other|additional|special)){0,2}"
                r"(?: (?:attention|scrutiny|discussion|remarks?|reviewers?|changes))?\b"
                r"(?=\s?(?:[.,;!:]|$)|\s(?:from|by|and)\b)",
                r"\b(?:good|ideal|best|perfect|right|proper|helpful|honest|fair|competent|short)"
                r" (?:code )?(?:reviews?|reviewers?|answers?|response)(?: \w{1,12}){0,3} (?:says?"
                r"|states?|mentions?|is|are|should|would|will|must|only|praises?|notes?"
                r"|contains?)\b",
                r"\b(?:a|an|any|every|each|the|this|all) (?:code )?reviews? (?:of \w{1,12} )?"
                r"(?:says?"
                r"|should|must|will|would|needs?|has to|only)\b",
                r"\b(?:works?|worked|working|functions?|behaves?|runs?|performs?|implemented"
                r"|written"
                r"|done|handled)(?: \w{1,12})? (?:flawless|perfect|excellent|impeccab)\w{0,3}\b",
                rf"{_SUBJECT}(?:works?|functions?|behaves?|performs?|(?:is|are|was"
                r"|were)"
                r" (?:implemented|written|done|handled|coded|designed))(?: \w{1,12})?"
                rf" (?:correctly|well|properly|as (?:intended|expected|it should|required))"
                rf"{_CLAUSE_ENDS}",
                rf"\b(?:contains?|ha[sd]|have|shows?|introduces?|holds?|adds?|leaves?) (?:no|zero)"
                rf" (?:\w{{1,12}} )?{_DEFECTS}{_CLAUSE_ENDS}",
                r"\b(?:poses?|carr(?:y|ies)|bears?|brings?|ha[sd]|have|introduces?|presents?) (?:no"
                r"|little|minimal|zero|low|negligible|hardly any)(?: \w{1,12})? (?:risks?|dangers?"
                r"|threats?|harm)\b",
                r"\b(?:follow|adher|conform|compl)\w{1,4} (?:to |with )?(?:all |every |the ){0,3}"
                r"(?:\w{1,12} )?"
                r"(?:best|good) practices?"
                rf"{_CLAUSE_ENDS}",
                r"\bquality (?:\w{1,3} x )?(?:is|looks|seems) (?:\w{1,12} )?(?:high|excellent"
                r"|good|great"
                r"|perfect|outstanding|top)\b",
                rf"\b(?:reviews?|comments?|remarks?|feedback|criticism|scrutiny|inspection)"
                rf" (?:on|of|for|about|to) (?:{_WORD} ){{1,4}}(?:is|are|would be|seems?)"
                r" (?:unnecessary|needless|pointless|superfluous|not (?:needed|necessary"
                r"|required))\b",
                r"\b(?:skipped|ignored|trusted|accepted|passed over|left alone)"
                r"(?: \w{1,12}){0,2}"
                rf" (?:by|in|during) (?:{_WORD} ){{0,2}}(?:{_PEOPLE}|reviews?|reviewing)\b",
                rf"\b{_PEOPLE} (?:ha(?:s|ve|d) )?(?:already |all |fully |personally )?(?:signed off"
                r"|approved|vetted|audited|verified|cleared|certified|agreed)\b",
                r"\b(?:all|every|each) (?:of the )?(?:\w{1,12} )?tests? "
                r"(?:\w{1,12} )?pass"
                r"(?:es|ed)?\b|\btests?(?: for [\w.]{1,40})? (?:all )?pass(?:es|ed)?\b",
                r"\bnothing (?:\w{1,12} )?(?:to|needs? to be|has to be|must be) (?:be )?"
                r"(?:said?|say"
                r"|add|added|complain\w{0,3}|object|question\w{0,3}|flag\w{0,3}|mention\w{0,3})\b",
                r"^\W*(?:approved?|accepted|merged?|pass(?:ed)?|ok(?:ay)?|yes|no|done|perfect"
                r"|excellent|great(?: work| job)?|good(?: work| job)?|well done)\W*$",
            ),
        ),
        (
            Fault.VERDICT,
            "approve",
            (
                rf"\b{_CHANGE} (?:is|are|should|must|can|may|has|have|will|was)(?: \w{{1,12}})"
                r"{0,3} (?:approved?|accepted)\b",
                rf"\b(?:approved?|accept|approving) (?:the |this )?{_CHANGE}\b",
                r"^\W*approved\b",
            ),
        ),
        (
            Fault.VERDICT,
            "merge",
            (
                r"\b(?:this|the|pull request|PR|change|patch|commit)(?: \w{1,12}){0,2}"
                r" (?:should|must|can|may) (?:\w{1,12} )?be merged\b",
                r"\b(?:safe|ready|good) to (?:merge|ship|deploy)\b",
            ),
        ),
        (
            Fault.PROMPT,
            "",
            (
                r"\bas an? (?:\w{1,12} )?(?:AI|language model|assistant|LLM|reviewer)\b",
                r"(?-i:\bI(?='(?:m|ve|ll|d)\b| (?:am|can|cannot|can't|will|have|was|must|approve"
                r"|would|do|don't|agree|understand|apologi[sz]e|confirm|find|found|recommend|rate"
                r"|shall|think|see|refuse)\b))",
                r"\b(?:ignor|disregard|overrid|forget)\w{0,4}(?: \w{1,12}){0,3} "
                r"(?:previous|prior|earlier|above|other|all)(?: \w{1,12}){0,2}"
                r" (?:instruction|prompt|rule|guideline|order)s?\b",
                r"\b(?:as|per|according to|following|follows|obey\w{0,3}|despite)(?: \w{1,12}){0,3}"
                r" (?:instruct(?:ed|ions?)|requested|asked|told|your (?:request|orders?))\b",
                r"\b(?:no|any) longer (?:bound|restricted) by\b",
            ),
        ),
        (Fault.PROMPT, "please", (r"\bplease\b", r"\byour (?:task|job|answer|response)\b")),
        (
            Fault.PROMPT,
            "prompt",
            (
                r"\b(?:system|initial|hidden|above|given|original|user|my|your) prompts?\b",
                r"\bthe prompt\b",
            ),
        ),
        (
            Fault.PROMPT,
            "instruction",
            (
                r"\b(?:my|your|these|given|previous|prior|above|system|original) instructions?\b",
                r"\bthe instructions? (?:say|said|ask|tell|above|given|state|is|are|was|were)"
                r"\w{0,2}\b",
            ),
        ),
        (Fault.PROMPT, "fence", (r"={3} ?change\b", r"\bchange [0-9a-f]{16,64} (?:begins|ends)\b")),
    )
)
