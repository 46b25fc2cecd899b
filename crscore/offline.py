"""Offline mode: this process opens no socket.

An audit hook rejects every socket that Python code opens. Native code that a default run uses
(onnxruntime, tokenizers, tree-sitter) opens none, as a test with `strace` checks.
"""

import os
import sys

from crscore.errors import CRScoreError


def forbid_sockets() -> None:
    """Block every new socket; this cannot be undone in this process.

    Model libraries are also configured to use only their cache.

    Raises:
        CRScoreError: Later, whenever code opens a socket.
    """
    # https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    # A hook cannot be removed again (PEP 578), not even by the code of a model.
    sys.addaudithook(_refuse)


def _refuse(event: str, _arguments: object) -> None:
    # These events (https://docs.python.org/3/library/audit_events.html) include those of sockets
    # that a library opened before. Reading the machine's own name does not need the network.
    if event.startswith("socket.") and event != "socket.gethostname":
        raise CRScoreError(
            f"offline mode refused {event}; run without --offline to allow the network"
        )
