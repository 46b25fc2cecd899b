"""Material of one small change of our own, for the makers' tests."""

from crscore.diff import parse
from crscore_lab.study.attacks.material import Material, Wording

PATCH = """\
@@ -1,5 +1,5 @@ def connect(host):
 import socket
-TIMEOUT = 10
+TIMEOUT = 20
-def open_line(host):
+def open_socket(host):
+    # Retry once when the host is slow.
     return socket.create_connection(host)
-    print("opened")
"""
RECORDED = (
    "The timeout is raised from 10 to 20 seconds.",
    "The function `open_line` has been renamed to `open_socket`.",
    "This could potentially slow down the start.",
)
STRUCTURAL = (
    "The value of `TIMEOUT` is now `20` instead of `10`.",
    "A comment has been added: 'Retry once when the host is slow.'.",
)
HONEST = "A timeout of 20 seconds is too long for `connect`. It should be configurable."


def material(**fields) -> Material:
    values = {
        "patch": PATCH,
        "diff": parse.parse_diff(PATCH, language="python"),
        "names": ("TIMEOUT", "open_line", "open_socket", "host"),
        "claims": {"recorded": RECORDED, "structural": STRUCTURAL},
        "wording": Wording.TEST,
        "honest_review": HONEST,
        "foreign_reviews": (
            "The cache is never emptied.",
            "Why does `flush()` ignore the error here?",
        ),
    }
    return Material(**(values | fields))
