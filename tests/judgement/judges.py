"""A fake judgement backend beside the fake upstream's own routes: the `judgement` protocol, and chat with log-probabilities."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from aiohttp import web

from tests.judgement.tokenizers import TOKENIZERS, Tokenizer, independent, tokens_of
from tests.support.upstream import FakeUpstream
from tests.support.upstream.app import Upstream, _note_departure
from tests.support.upstream.behaviours import from_model
from tests.support.upstream.call import Call, PeerLeft
from tests.support.upstream.ledger import Entry
from tests.support.upstream.usage import ABSENT, report

Json = dict[str, Any]

VERSION = "2026-08-01"
INPUT_TOKENS = 812
FIRST = 0.75
"""The first label's probability; the others share the rest."""


def judge(body: Mapping[str, Any]) -> Json:
    """Answer every question, with the first label as the most likely."""
    answers = {name: {"probabilities": shares(labels_of(question))} for name, question in body["questions"].items()}
    return {"version": VERSION, "answers": answers}


def labels_of(question: Mapping[str, Any]) -> list[str]:
    """List a question's labels."""
    return ["true", "false"] if question["type"] == "noul" else list(question["criteria"])


def shares(labels: list[str]) -> dict[str, float]:
    """Assign every label its probability."""
    rest = (1 - FIRST) / (len(labels) - 1)
    return {label: rest if index else FIRST for index, label in enumerate(labels)}


class Judges(Upstream):
    """Answers as set in `says`, or in `writes` for a chat."""

    says: Callable[[Mapping[str, Any]], Any] = staticmethod(judge)
    tokenize: Tokenizer = TOKENIZERS["words"]

    def application(self) -> web.Application:
        """Build the routes."""
        application = super().application()
        application.router.add_post("/v1/judge", self.serve_judgement)
        return application

    async def serve_judgement(self, request: web.Request) -> web.StreamResponse:
        """Answer one judgement with its model's behaviour."""
        body = json.loads(await request.read())
        script = self.scripts.take(request.path, body["model"])
        behaviour = script.behaviour if script else from_model(body["model"])
        entry = self.ledger.add(
            Entry(
                id=self.ledger.new_id("judge"),
                path="/judge",
                model=body["model"],
                stream=False,
                prompt_tokens=INPUT_TOKENS,
                idempotency_key=request.headers.get("Idempotency-Key"),
                client_request_id=request.headers.get("X-Client-Request-Id"),
                authorization=request.headers.get("Authorization"),
                behaviour=body["model"].partition("?")[0],
                body=body,
            )
        )
        call = Call(request, body, behaviour, entry, self.gate)
        try:
            return await self._answer(call)
        except (PeerLeft, ConnectionError):
            _note_departure(call.entry)
            return web.Response(status=499)

    async def _succeed(self, call: Call) -> web.StreamResponse:
        if call.entry.path == "/judge":
            answer = self.says(call.body)
            usage = report({"prompt_tokens": INPUT_TOKENS}, call.behaviour.usage)
            if isinstance(answer, dict) and "usage" not in answer and usage is not ABSENT:
                counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
                answer = {**answer, "usage": {"input_tokens": counted} if isinstance(usage, dict) else usage}
            return await self._send_json(call, answer, tokens=0)
        if call.body.get("logprobs"):
            return await self._send_json(call, self._completion(call), tokens=0)
        return await super()._succeed(call)

    def _completion(self, call: Call) -> Json:
        questions = json.loads(_text_of(call.body["messages"][1]["content"]))["questions"]
        answers = independent([shares(list(question["options"])) for question in questions])
        logprobs = {"content": tokens_of(answers, self.tokenize, top=call.body["top_logprobs"])}
        usage = report({"prompt_tokens": INPUT_TOKENS, "completion_tokens": 7}, call.behaviour.usage)
        message = {"role": "assistant", "content": max(answers, key=lambda text: answers[text])}
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop"}
        completion = {
            "id": call.entry.id,
            "object": "chat.completion",
            "model": "small-1-2026-08-01",
            "choices": [choice],
        }
        return completion if usage is ABSENT else {**completion, "usage": usage}


def _text_of(content: Any) -> str:
    return str(content if isinstance(content, str) else content[0]["text"])


class JudgeUpstream(FakeUpstream):
    """Runs the fake backends in a thread, like the fake upstream."""

    def __init__(self, api_key: str) -> None:
        super().__init__(api_key=api_key)
        self.judges = Judges(api_key=api_key)
        self._upstream = cast("Upstream", self.judges)

    def reset(self) -> None:
        """Reset all behaviours."""
        super().reset()
        self.judges.says = judge
        self.judges.tokenize = TOKENIZERS["words"]
