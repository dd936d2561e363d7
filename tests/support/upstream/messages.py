"""The Messages API in the vendor's format: one body, or its named stream events."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import orjson

from tests.support.upstream.answers import Answer
from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.stream import Frame
from tests.support.upstream.usage import ABSENT, Usage, report, with_counted

_REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}
SIGNATURE = "EqQBCkgIAxABGAIi"


def usage_of(answer: Answer, behaviour: Behaviour) -> Usage:
    """Return the true usage of an output; its input excludes what the cache holds."""
    written, hour = behaviour.cache_write_tokens, behaviour.cache_write_1h_tokens
    usage = {
        "input_tokens": answer.prompt_tokens - behaviour.cached_tokens - written,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": behaviour.cached_tokens,
        "cache_creation": {"ephemeral_5m_input_tokens": written - hour, "ephemeral_1h_input_tokens": hour},
        "output_tokens": output_tokens_of(answer, behaviour),
        "service_tier": json.loads(behaviour.service_tier) if behaviour.service_tier else "standard",
    }
    return with_counted(usage, behaviour)


def output_tokens_of(answer: Answer, behaviour: Behaviour) -> int:
    """Count the words of every block, and the thinking tokens."""
    return answer.tokens * (behaviour.calls if answer.tool_call else 1) + behaviour.reasoning_tokens


def render(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Any:
    """Build the complete message."""
    message = {
        **_head(entry_id, body),
        "content": _blocks(entry_id, answer, behaviour),
        "stop_reason": _REASONS[answer.finish_reason],
    }
    usage = report(usage_of(answer, behaviour), behaviour.usage)
    return message if usage is ABSENT else {**message, "usage": usage}


def stream(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Iterator[Frame]:
    """Return the events of a streamed message, in the vendor's order."""
    usage = report(usage_of(answer, behaviour), behaviour.usage)
    told = {} if usage is ABSENT else {"usage": usage}
    begun = {"usage": {**usage_of(answer, behaviour), "output_tokens": 1}} if isinstance(usage, dict) else told
    yield _frame("message_start", message={**_head(entry_id, body), "content": [], "stop_reason": None, **begun})
    yield _frame("ping")
    blocks = _blocks(
        entry_id, replace(answer, tokens=0), behaviour
    )  # an output may be endless: its words are made one by one
    for index, block in enumerate(blocks):
        yield from _block(block, index, answer)
    if behaviour.done:
        delta = {"stop_reason": _REASONS[answer.finish_reason], "stop_sequence": None}
        yield _frame("message_delta", delta=delta, **told)
        yield _frame("message_stop")


def _block(block: dict[str, Any], index: int, answer: Answer) -> Iterator[Frame]:
    deltas: Iterable[dict[str, Any]]
    match block["type"]:
        case "text":
            words = (answer.word(position) for position in range(answer.tokens))
            opened, deltas = block, ({"type": "text_delta", "text": word} for word in words)
        case "thinking":
            opened = {"type": "thinking", "thinking": "", "signature": ""}
            signature = {"type": "signature_delta", "signature": block["signature"]}
            deltas = [*_deltas("thinking_delta", "thinking", block["thinking"]), signature]
        case _:
            arguments = orjson.dumps(block["input"]).decode().replace(",", ", ")
            opened, deltas = {**block, "input": {}}, _deltas("input_json_delta", "partial_json", arguments)
    yield _frame("content_block_start", index=index, content_block=opened)
    for delta in deltas:
        tokens = int(delta["type"] != "signature_delta")
        yield _frame("content_block_delta", tokens, index=index, delta=delta)
    yield _frame("content_block_stop", index=index)


def _deltas(kind: str, name: str, text: str) -> list[dict[str, Any]]:
    words = [word if at == 0 else f" {word}" for at, word in enumerate(text.split(" "))]
    return [{"type": kind, name: word} for word in words]


def _frame(kind: str, tokens: int = 0, **members: Any) -> Frame:
    return Frame({"type": kind, **members}, tokens, name=kind)


def _head(entry_id: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": entry_id, "type": "message", "role": "assistant", "model": body["model"], "stop_sequence": None}


def _blocks(entry_id: str, answer: Answer, behaviour: Behaviour) -> list[dict[str, Any]]:
    thought = " ".join(["hm"] * behaviour.reasoning_tokens)
    blocks: list[dict[str, Any]] = (
        [{"type": "thinking", "thinking": thought, "signature": SIGNATURE}] if thought else []
    )
    if answer.tool_call:
        call = {"name": answer.tool_call.name, "input": orjson.loads(answer.tool_call.arguments)}
        return [*blocks, *({"type": "tool_use", "id": f"toolu_{entry_id}_{n}", **call} for n in range(behaviour.calls))]
    return [*blocks, {"type": "text", "text": "".join(answer.words())}]
