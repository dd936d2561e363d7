"""Chat completions as one body."""

import time
from typing import Any

from inference.adapters.base import Answer, Attempt, Outcome
from inference.adapters.chat_events import choices_asked
from inference.adapters.demo.prompt import read_prompt
from inference.adapters.demo.reply import Reply, reply_to


async def answer(attempt: Attempt) -> Outcome:
    """Answer a chat request with `n` equal choices."""
    prompt = read_prompt(attempt.body)
    reply = reply_to(prompt, attempt.body)
    count = choices_asked(attempt)
    usage = usage_of(prompt.tokens, reply, count)
    body = {
        "id": attempt.public_id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": attempt.public_model,
        "choices": [_choice(attempt, reply, index) for index in range(count)],
        "usage": usage,
    }
    return Answer(body, usage)


def usage_of(prompt_tokens: int, reply: Reply, choices: int) -> dict[str, Any]:
    """State what an answer counted, as the vendor's API does."""
    completion_tokens = len(reply.pieces) * choices
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def call_id(attempt: Attempt, choice: int) -> str:
    """Give a tool call an id that no other answer has."""
    return f"call_{attempt.public_id[-26:]}_{choice}_0"


def _choice(attempt: Attempt, reply: Reply, index: int) -> dict[str, Any]:
    text = "".join(reply.pieces)
    message: dict[str, Any] = {"role": "assistant", "content": None if reply.tool else text, "refusal": None}
    if reply.tool:
        function = {"name": reply.tool, "arguments": text}
        message["tool_calls"] = [{"id": call_id(attempt, index), "type": "function", "function": function}]
    return {"index": index, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
