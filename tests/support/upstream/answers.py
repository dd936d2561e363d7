"""The model's output: words, or a call of a function in the request."""

import dataclasses
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.tokens import count_prompt

WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "while", "naïve", "badgers", "sleep")
ENDLESS_TOKENS = 10**9


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of one offered function, with arguments that fit its required parameters."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete output: the words of each choice, and why they end."""

    prompt_tokens: int
    tokens: int
    """Words in each choice; a tool call's arguments count as words too."""
    choices: int
    finish_reason: str
    text: tuple[str, ...] = WORDS
    tool_call: ToolCall | None = None

    def words(self) -> list[str]:
        """List the words of one choice, each but the first with its leading space."""
        cycle = itertools.islice(itertools.cycle(self.text), self.tokens)
        return [word if index == 0 else f" {word}" for index, word in enumerate(cycle)]

    def word(self, index: int) -> str:
        """Return one word of an output that may be endless."""
        word = self.text[index % len(self.text)]
        return f" {word}" if index else word


def answer(body: Mapping[str, Any], behaviour: Behaviour) -> Answer:
    """Decide the output for a chat or responses body, within its output limit."""
    honest = Answer(
        prompt_tokens=count_prompt(body),
        tokens=behaviour.tokens,
        choices=body.get("n") or 1,
        finish_reason="stop",
        text=tuple(behaviour.text.split()) or WORDS,
    )
    if behaviour.text:
        honest = dataclasses.replace(honest, tokens=len(honest.text))
    if behaviour.endless:
        return dataclasses.replace(honest, tokens=ENDLESS_TOKENS)
    if text := structured(body):
        return _limited(dataclasses.replace(honest, tokens=len(text.split()), text=tuple(text.split())), body)
    if call := _tool_call(body):
        return dataclasses.replace(
            honest,
            tokens=len(call.arguments.split()),
            finish_reason="tool_calls",
            text=tuple(call.arguments.split()),
            tool_call=call,
        )
    return _limited(honest, body)


def output_limit(body: Mapping[str, Any]) -> int | None:
    """Read the output limit of a chat or responses body, in tokens per choice."""
    for name in ("max_completion_tokens", "max_tokens", "max_output_tokens"):
        if body.get(name) is not None:
            return int(body[name])
    return None


def _limited(honest: Answer, body: Mapping[str, Any]) -> Answer:
    limit = output_limit(body)
    if limit is None or honest.tokens <= limit:
        return honest
    return dataclasses.replace(honest, tokens=limit, finish_reason="length")


def _tool_call(body: Mapping[str, Any]) -> ToolCall | None:
    tools = body.get("tools") or []
    if not tools or body.get("tool_choice") in ("none", {"type": "none"}) or _was_answered(body):
        return None
    function = tools[0].get("function", tools[0])
    required = (function.get("parameters") or function.get("input_schema") or {}).get("required", [])
    arguments = orjson.dumps(dict.fromkeys(required, "Reykjavík")).decode()
    return ToolCall(name=function["name"], arguments=arguments.replace(",", ", "))


def structured(body: Mapping[str, Any]) -> str:
    """Return JSON that matches a response's schema, with spaces between members; empty if there is none."""
    text_format = (body.get("text") or body.get("output_config") or {}).get("format") or {}
    if text_format.get("type") != "json_schema":
        return ""
    required = text_format.get("schema", {}).get("required", [])
    return orjson.dumps(dict.fromkeys(required, "Reykjavík")).decode().replace(",", ", ")


def _was_answered(body: Mapping[str, Any]) -> bool:
    """Return whether the request already contains a tool's result, which is answered in words."""
    items = body.get("messages", body.get("input", []))
    last = items[-1] if isinstance(items, list) and items else {}
    if last.get("role") == "tool" or last.get("type") == "function_call_output":
        return True
    content = last.get("content")
    return isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)
