"""Times to the first byte are those of real streams, with the work going on beside them."""

import asyncio

from bench.first_byte import STREAMS, first_byte_seconds


def test_every_stream_is_timed_while_the_work_is_done_again_and_again() -> None:
    done: list[None] = []

    async def work() -> None:
        done.append(None)
        await asyncio.sleep(0)

    seconds = asyncio.run(first_byte_seconds(work))
    assert len(seconds) == STREAMS
    assert seconds == sorted(seconds)
    assert seconds[0] > 0
    assert len(done) > 1
