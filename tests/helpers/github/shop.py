"""The scene `shop`: discounts come to a web shop's cart; people and bots review it."""

from __future__ import annotations

from tests.helpers.github.people import ACTIONS, GHOST, JONAS, MIRA, NADIA, RABBIT
from tests.helpers.github.shop_texts import (
    BASE,
    FIRST,
    LINT_REPORT,
    RABBIT_REVIEW,
    SECOND,
    SUGGESTION,
    WALKTHROUGH,
)
from tests.helpers.github.state import Repository, World
from tests.helpers.github.writer import Spot, Writer, opened

NAME = "acme/shop"
NUMBER = 7


def shop() -> World:
    """A small pull request with every kind of comment.

    Threads with answers, one resolved, one out of date; a review that is still pending, a
    minimised comment, a deleted account, a suggestion, an approval without a text.
    """
    world = World(repositories=[Repository(owner="acme", name="shop")])
    second = {**BASE, **FIRST, **SECOND}
    del second["web/utils.js"]
    writer = opened(
        world,
        BASE,
        {**BASE, **FIRST},
        number=NUMBER,
        title="Add discount codes to the cart",
        body="Customers can enter a code at checkout.\n\nCloses the request from support.",
        author=NADIA,
        head_ref="discounts",
    )
    _before_the_push(writer)
    writer.push(second)
    _after_the_push(writer)
    return world


def _before_the_push(writer: Writer) -> None:
    writer.say(RABBIT, WALKTHROUGH)
    rounding, escaping = writer.review(
        RABBIT,
        body=RABBIT_REVIEW,
        spots=[
            Spot(
                path="shop/pricing.py",
                line=17,
                body="_⚠️ Potential issue_\n\n**Money is a float.** `price * (1 - rate)` gives sums "
                "such as 17.990000000000002. Round to cents before you return the price.",
            ),
            Spot(
                path="web/cart.js",
                line=13,
                body="_⚠️ Potential issue_\n\n**The code is put into the page as HTML.** A code "
                "like `<img onerror=...>` runs script in the customer's browser. "
                "Use `textContent` instead of `innerHTML`.",
            ),
        ],
    )
    writer.reply(rounding, NADIA, "Right, I round to cents in the next commit.")
    writer.pull.resolved[rounding.id] = NADIA
    writer.reply(escaping, NADIA, "Can a code hold anything but letters and digits?")
    writer.reply(
        escaping,
        RABBIT,
        "`@nadia` Yes: nothing checks it before `showDiscount` is called, so whatever is typed "
        "into the field arrives here.",
    )


def _after_the_push(writer: Writer) -> None:
    default, _, removed = writer.review(
        MIRA,
        state="CHANGES_REQUESTED",
        body="The idea is fine. `apply_discount` needs a check for codes that have expired, and I "
        "miss a test for a code that does not exist.",
        spots=[
            Spot(
                path="shop/cart.py",
                line=9,
                body="`codes=[]` is shared by all carts. A code that one customer enters would be "
                "applied to the next cart too. Use `None` and make the list inside.",
            ),
            Spot(path="shop/pricing.py", start_line=21, line=24, body=SUGGESTION),
            Spot(
                path="shop/cart.py",
                line=14,
                side="LEFT",
                body="Who else called `total` without the shipping costs? The removed line was the "
                "only place that added them.",
            ),
        ],
    )
    writer.reply(default, JONAS, "+1, we had this very bug in the wish list.")
    writer.reply(removed, GHOST, "The invoice job did, but it was retired last month.")
    writer.review(
        JONAS,
        spots=[Spot(path="web/format.js", line=None, body="Thanks for giving this file a name.")],
    )
    (spam,) = writer.review(
        GHOST,
        spots=[Spot(path="web/cart.js", line=7, body="Buy cheap watches at my site!")],
    )
    spam.minimized = "spam"
    writer.review(
        JONAS,
        state="PENDING",
        body="Not sent yet.",
        spots=[Spot(path="shop/cart.py", line=20, body="Draft: should this be a property?")],
    )
    writer.say(ACTIONS, LINT_REPORT)
    note = writer.say(JONAS, "Does this work with gift cards?")
    writer.edit(note, "Does this work together with gift cards? `total` subtracts them as well.")
    writer.say(GHOST, "Please tell the support team before you merge.")
    writer.review(JONAS, state="APPROVED")
