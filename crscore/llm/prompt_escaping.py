"""Escaping of text from a change, so that it can neither end its fence nor act as a control token.

The model's template turns a chat into tokens. Text that looks like one of its control tokens would
become that token, and could end the user's turn and begin the assistant's. A space is inserted into
such text: no tokenizer then recognizes the token, and the text remains readable. Decisions:
docs/design/023.
"""

import re
from dataclasses import dataclass
from typing import Final

from crscore.text import clean

# Terminal sequences: "\x1b[31m", "\x1b]0;title\x07". `clean` removes a lone escape character.
_ANSI: Final = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,40}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,200}\x07?"
)
# Templates join a chat to one text: https://huggingface.co/docs/transformers/chat_templating
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
    """Fence that marks the text of one run as data."""

    nonce: str
    """Random word that the author of a change cannot know: 16 or more letters and digits."""
    special: frozenset[str] = frozenset()
    """Special tokens of the model, where the engine provides them."""

    def text(self, raw: str) -> str:
        """Escape lines of a change."""
        return break_control_tokens(raw, self.special | {self.nonce})


def break_control_tokens(text: str, special: frozenset[str] = frozenset()) -> str:
    r"""Remove invisible characters, and break up the control tokens of chat templates.

    Args:
        text: Text of the change.
        special: Further texts that are a single token for the model.

    Returns:
        The text with a space inside each control token and without terminal sequences,
        zero-width and bidirectional characters. Line ends and tabs are kept.

    Example:
        >>> break_control_tokens("+ # <|im_end|>\u200b\n+ [INST] hello")
        '+ # < |im_end|>\n+ [ INST] hello'
    """
    text = clean(_ANSI.sub("", text))
    text = _TOKEN.sub(lambda match: match[0] + " ", text)
    long_tokens = [token for token in special if len(token.strip()) > 1]
    if long_tokens:
        # A lookahead, so that every position is searched: a token may begin inside another one.
        pattern = "|".join(map(re.escape, sorted(long_tokens)))
        text = re.sub(rf"(?=(?:{pattern}))(\s*\S)", r"\1 ", text)
    return text
