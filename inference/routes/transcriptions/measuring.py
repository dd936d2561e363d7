"""Measures a file before its hold is placed, in a separate thread, in which the accounts take turns."""

import asyncio
import time

from django.conf import settings

from gateway.core.contract.errors import InvalidRequest, NotReady
from gateway.core.runtime.turns import Turns
from inference.metering.route import MeteredRequest
from inference.routes.transcriptions.bound import BoundedTranscription
from inference.rules.audio.length import read_length
from inference.rules.audio.source import UnreadableAudio

_turns = Turns("audio-lengths")


async def measure_file(http: MeteredRequest, request: BoundedTranscription) -> BoundedTranscription:
    """Return the request with its file's length and its hold. Raises InvalidRequest if the file cannot be measured,
    MaxCostExceeded, or NotReady if its turn does not come in time."""
    try:
        async with asyncio.timeout(settings.LARGE_BODY_WAIT_SECONDS):
            length = await _turns.run(read_length, request.params.file, time.thread_time)
    except TimeoutError:
        raise NotReady("Too many files are being measured.", headers={"Retry-After": "5"}) from None
    except UnreadableAudio as error:
        raise InvalidRequest(f"The length of the file cannot be determined. {error}", param="file") from error
    return request.measured(length)
