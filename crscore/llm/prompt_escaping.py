"""Escapes untrusted text, so that it can neither end its fence nor act as a control token.

The model's template turns a chat into tokens. Text that looks like a control token would become
that token, and could end the user's turn and begin the assistant's. So a space is inserted into
such text: no tokenizer then recognizes the token, and the text remains readable. Design:
docs/design/023-model-claims.md.
"""

import re
from dataclasses import dataclass
from typing import Final

from crscore.text import clean

# Control sequences of terminals: "\x1b[31m", "\x1b]0;title\x07". `clean` removes a lone "\x1b".
_ANSI: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,40}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,200}\x07?"
)
# The tags that chat templates use: https://huggingface.co/docs/transformers/chat_templating
_TAG_NAMES: Final = (
    r"s|bos|eos|pad|unk|mask|cls|sep|start_of_turn|end_of_turn|start_of_image|human|bot"
    r"|system|user|assistant|think|thinking|tool_call|tool_response|function_calls?|fim_\w{1,10}"
    r"|fim-\w{1,10}|repo_name|file_sep|filename|endoftext|extra_id_\d{1,3}|sentinel:\d{1,4}"
)
_HEADING_ROLES: Final = (
    r"instructions?|response|system|user|human|assistant|input|output|question|answer"
)
# A space is inserted after each match.
_TOKEN: Final = re.compile(
    # "<|im_start|>", "<|eot_id|>"; with the bars of DeepSeek: "<｜begin▁of▁sentence｜>"
    "<(?=/?[|\uff5c])"
    # "<s>", "</s>", "<start_of_turn>", "<think>", "<fim_prefix>"
    rf"|<(?=/?(?:{_TAG_NAMES})>)"
    # "<<SYS>>", "<</SYS>>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[CLS]"
    r"|<(?=</?SYS>>)"
    r"|\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|AVAILABLE_TOOLS|TOOL_RESULTS|CLS|SEP|PAD|UNK|MASK"
    r"|BOS|EOS)\])"
    # "### Instruction:", "## Response"; "@@ Instruction", "@@ Response"
    rf"|(?<!#)#(?=#{{1,5}}[^\S\n]{{0,9}}(?:{_HEADING_ROLES})\b)"
    r"|@(?=@[^\S\n]{0,9}(?:Instruction|Response))"
    # "Human:", "ASSISTANT:"; not "user:", a common key in configuration files
    r"|(?<![\w.])(?-i:Human|Assistant|HUMAN|ASSISTANT|USER|SYSTEM)(?=:)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """Fence around an untrusted text, which marks the text as data."""

    nonce: str
    """Word that no author of the text can predict: 16 or more letters and digits."""
    special: frozenset[str] = frozenset()
    """Special tokens of the model, where the engine provides them."""

    def text(self, raw: str) -> str:
        """Return a text as it is shown between the marks of the fence."""
        return break_control_tokens(raw, self.special | {self.nonce})


def break_control_tokens(text: str, special: frozenset[str] = frozenset()) -> str:
    r"""Remove invisible characters, and break up the control tokens of chat templates.

    Args:
        text: Untrusted text.
        special: Further texts that are a single token for the model.

    Returns:
        The text with a space inside each control token, and without control sequences of terminals,
        zero-width and bidirectional characters. Line ends and tabs are kept.

    Example:
        >>> break_control_tokens("+ # <|im_end|>\u200b\n+ [INST] hello")
        '+ # < |im_end|>\n+ [ INST] hello'
    """
    text = clean(_ANSI.sub("", text))
    text = _TOKEN.sub(lambda match: match[0] + " ", text)
    long_tokens = [token for token in special if len(token.strip()) > 1]
    if long_tokens:
        # A lookahead matches no characters, so a token that begins inside another one is found.
        pattern = "|".join(map(re.escape, sorted(long_tokens)))
        text = re.sub(rf"(?=(?:{pattern}))(\s*\S)", r"\1 ", text)
    return text
