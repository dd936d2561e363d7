"""The pass-through proxy passes through, streams included."""

import aiohttp
from aiohttp.test_utils import TestServer

from bench.lanes import body
from bench.passthrough import PassThrough
from tests.support.upstream import FakeUpstream


async def test_answers_streams_and_errors_come_through_unchanged() -> None:
    with FakeUpstream() as upstream:
        async with TestServer(PassThrough(upstream.origin).application()) as proxy, aiohttp.ClientSession() as session:
            url = proxy.make_url("/v1/chat/completions")
            async with session.post(url, data=body("small-1")) as answer:
                assert (answer.status, (await answer.json())["usage"]["completion_tokens"]) == (200, 16)
            async with session.post(url, data=body("small-1", stream=True)) as answer:
                assert (await answer.text()).endswith("data: [DONE]\n\n")
            async with session.post(url, data=body("overloaded")) as answer:
                assert (answer.status, (await answer.json())["error"]["code"]) == (503, "overloaded")
