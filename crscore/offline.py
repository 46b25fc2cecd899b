"""Offline mode, in which this process opens no socket.

An audit hook rejects every socket that Python code opens. The native code of a default run
(onnxruntime, tokenizers, tree-sitter) opens no socket, which a test checks with `strace`.
"""

import os
import sys

from crscore.errors import CRScoreError


def forbid_sockets() -> None:
    """Refuse the use of sockets, for the rest of this process.

    Libraries of models are also configured to use only files in their cache.

    Raises:
        CRScoreError: Not here, but later, whenever code uses a socket.
    """
    # https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["TRANSFORMERS_OFFLINE"] = "1"
    # No code, not even a model's, can remove an audit hook (PEP 578).
    sys.addaudithook(_refuse_socket)


def _refuse_socket(event: str, _arguments: object) -> None:
    # The events (https://docs.python.org/3/library/audit_events.html) also include the use of a
    # socket that was opened before. Reading the name of this machine does not need the network.
    if event.startswith("socket.") and event != "socket.gethostname":
        raise CRScoreError(
            f"offline mode refused {event}; run without --offline to allow the network"
        )
