"""The scenes `fork`, `unseen_patches` and `hostile`."""

from __future__ import annotations

from tests.helpers.github import hostile_texts
from tests.helpers.github.people import GHOST, MIRA, NADIA, RABBIT
from tests.helpers.github.shop_texts import BASE, FIRST
from tests.helpers.github.state import Repository, Rules, User, World
from tests.helpers.github.writer import Spot, opened


def fork() -> World:
    """A pull request from a stranger's fork: the token reads and writes nothing."""
    world = World(repositories=[Repository(owner="acme", name="shop")], permissions="read")
    stranger = User(login="stranger-9", id=1009, association="FIRST_TIME_CONTRIBUTOR")
    changed = BASE | {
        "shop/pricing.py": FIRST["shop/pricing.py"],
        # The change's own settings, which must not count.
        "pyproject.toml": BASE["pyproject.toml"] + "\n[tool.crscore]\nmax_claims = 1\n",
    }
    writer = opened(
        world,
        BASE,
        changed,
        number=3,
        title="Add discount rates",
        author=stranger,
        head_ref="main",
        fork="stranger-9/shop",
    )
    text = (
        "The file stays open: use `with`. And a code that is unknown is not an error of the caller."
    )
    writer.review(MIRA, spots=[Spot(path="shop/pricing.py", line=5, body=text)])
    writer.say(stranger, "Thanks, I will change that.")
    return world


def unseen_patches() -> World:
    """A pull request whose file list hides a part of the change.

    In the order of the list: files with patches, one that is too large for a patch (its counts
    are there), and, once the list is long, files of which it says that nothing changed. Among
    those are some in which no line changed indeed: an empty one, a renamed one, a picture, one
    that became executable.
    """
    rules = Rules(file_patch_lines=400, total_patch_lines=60)
    world = World(repositories=[Repository(owner="acme", name="data")], rules=rules)
    script = "\n".join(f"echo {number}" for number in range(12)) + "\n"
    base = {
        "a.py": "def area(r):\n    return 3.14 * r * r\n",
        "b/large.sql": "".join(f"insert into t values ({at});\n" for at in range(300)),
        "c/list.py": "".join(f"ITEM_{at} = {at}\n" for at in range(40)),
        "z/late.py": "def late():\n    return True\n",
        "z/logo.png": b"\x89PNG\0\0\1",
        "z/old_name.py": script,
        "z/run.sh": script,
    }
    head = base | {
        "a.py": "import math\n\n\ndef area(r):\n    return math.pi * r**2\n",
        "b/large.sql": "".join(f"insert into t values ({at}, now());\n" for at in range(300)),
        "c/list.py": "".join(f"ITEM_{at} = {at + 1}\n" for at in range(40)),
        "z/empty.py": "",
        "z/late.py": "def late(now, due):\n    return now > due\n",
        "z/logo.png": b"\x89PNG\0\0\2",
        "z/new_name.py": script,
        "z/new.py": "def added():\n    eval(input())\n",
    }
    del head["z/old_name.py"]
    writer = opened(
        world,
        base,
        head,
        number=5,
        title="Renew the tables",
        author=NADIA,
        modes={"z/run.sh": "100755"},
    )
    writer.review(
        MIRA,
        body="`late` needs a test for `now == due`.",
        spots=[
            Spot(path="a.py", line=5, body="Why a function? `math.pi * r**2` is clear in place."),
            Spot(path="z/late.py", line=2, body="What if there is no due date?"),
            Spot(path="b/large.sql", line=7, body="Use one statement for all rows."),
        ],
    )
    writer.say(NADIA, "The tables were made by a script.")
    return world


def hostile() -> World:
    """A pull request in which every text that a stranger can choose attacks its reader."""
    world = World(repositories=[Repository(owner="acme", name="target")])
    base = {"README.md": "# Target\n", "safe.py": "def safe():\n    return 1\n"}
    head = {**base, **dict.fromkeys(hostile_texts.PATHS, hostile_texts.CODE)}
    head["safe.py"] = hostile_texts.CODE
    writer = opened(
        world,
        base,
        head,
        number=13,
        title=hostile_texts.TITLE,
        body=hostile_texts.MARKDOWN,
        author=User(login="x--github-actions", id=6_001, association="NONE"),
        head_ref="x`;${IFS}$(id)",
        fork="x--github-actions/target",
    )
    # A person whose name is that of a bot but for the suffix that GitHub keeps to itself.
    double = User(login="coderabbitai", id=6_002, association="NONE")
    for number, text in enumerate(hostile_texts.BODIES):
        path = hostile_texts.PATHS[number % len(hostile_texts.PATHS)]
        spot = Spot(path=path, line=1 + number % 3, body=text)
        writer.review((double, MIRA, RABBIT, GHOST)[number % 4], body=text, spots=[spot])
        writer.say((double, GHOST, MIRA)[number % 3], text)
    return world
