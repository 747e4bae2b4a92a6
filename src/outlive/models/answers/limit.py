"""How long an answer may be: always bounded, and within what the prompt leaves of the window."""

from outlive.messages import Block, Text, ToolCall, ToolResult
from outlive.request import Request

MAX_ANSWER_TOKENS = 32_000  # room for a large file; an answer that runs away costs no more than this
MAX_REASONED_TOKENS = 64_000
"""For models whose reasoning counts as part of the answer."""
UNKNOWN_MODEL_TOKENS = 16_384  # servers refuse a limit above what their model has
MIN_ANSWER_TOKENS = 1_024  # less would cut a call; a request that leaves no room is refused by the server
MARGIN = 1.1
"""The prompt is estimated; a server counts it with its own template."""
_CHARS_PER_TOKEN = 3  # low, because an estimate that is too small is refused


def usual_limit(output: int, most: int = MAX_ANSWER_TOKENS) -> int:
    """The limit for a model whose longest answer is `output` tokens, or unknown (0)."""
    return min(output or UNKNOWN_MODEL_TOKENS, most)


def answer_limit(request: Request, window: int, most: int) -> int:
    """Tokens of the answer to a request: `most`, or less in a small window and where it is nearly full."""
    if not window:
        return most
    left = window - int(MARGIN * (request.tokens or _estimate(request)))
    return max(MIN_ANSWER_TOKENS, min(most, window // 2, left))


def _estimate(request: Request) -> int:
    """Tokens of a request that the context engine did not make."""
    blocks = (block for message in request.messages for block in message.blocks)
    characters = len(request.system) + len(str(request.tools)) + sum(map(_length, blocks))
    return characters // _CHARS_PER_TOKEN


def _length(block: Block) -> int:
    match block:
        case Text() | ToolResult():
            return len(block.text)
        case ToolCall():
            return len(str(block.input))
        case _:
            return 0
