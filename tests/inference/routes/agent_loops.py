"""Loops of the vendor's agents SDK through the gateway. The SDK takes a second to import: tests do so when they run."""

from typing import Any, Literal

from agents import (
    Agent,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    function_tool,
)

from tests.inference.routes.sdk import async_sdk
from tests.support.stage import Caller

PROMPT = "Say something about badgers."
QUIET = RunConfig(tracing_disabled=True)
ROUTES = {"responses": OpenAIResponsesModel, "chat.completions": OpenAIChatCompletionsModel}

Streaming = Literal["whole", "streamed"]


@function_tool
def get_weather(city: str) -> str:
    """Return the weather of a city."""
    return f"sunny in {city}"


async def run(caller: Caller, called: str, alias: str, streaming: Streaming, turns: Any = PROMPT, **agent: Any) -> Any:
    """Run an agent to its end, and return its result."""
    async with async_sdk(caller) as client:
        options = {name: agent.pop(name) for name in ("auto_previous_response_id",) if name in agent}
        acting: Agent[None] = Agent(name="Weather", model=ROUTES[called](alias, client), **agent)
        if streaming == "whole":
            return await Runner.run(acting, turns, run_config=QUIET, **options)
        result = Runner.run_streamed(acting, turns, run_config=QUIET, **options)
        async for _ in result.stream_events():
            pass
        return result


async def hand_over(caller: Caller, called: str, alias: str, streaming: Streaming) -> Any:
    """Run an agent that may hand over to another."""
    async with async_sdk(caller) as client:
        expert: Agent[None] = Agent(name="Expert", model=ROUTES[called](alias, client))
        return await run(caller, called, alias, streaming, handoffs=[expert])


__all__ = ["ModelSettings", "Streaming", "get_weather", "hand_over", "run"]
