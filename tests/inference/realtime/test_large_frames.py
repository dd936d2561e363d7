"""Large frames of a session's client are parsed beside the event loop."""

import asyncio

import pytest

from inference.routes.realtime.session import parsed
from tests.support.calls import calls_during


@pytest.mark.parametrize("values", [1_000, 99_000])
def test_a_large_frame_is_parsed_beside_the_event_loop(values: int) -> None:
    frame = b'{"type":"x","a":[%b]}' % b",".join([b"{}"] * values)
    assert len(asyncio.run(parsed(frame))["a"]) == values
    assert (calls_during(lambda: asyncio.run(parsed(frame)))["loads"] == 0) == (values > 2_000)
