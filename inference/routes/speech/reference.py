"""Speech in the API reference."""

from inference.routes.speech.request import CHARACTERS_MAX, MEDIA_TYPES, SPEED_MAX, SPEED_MIN
from inference.serializers import reference as shapes

SPEECH_REQUEST = shapes.object_of(
    "model input voice",
    model=shapes.MODEL,
    input={"type": "string", "minLength": 1, "maxLength": CHARACTERS_MAX},
    voice={"type": "string", "description": "The name of a voice."},
    instructions=shapes.optional({"type": "string", "maxLength": CHARACTERS_MAX}),
    response_format=shapes.optional({"type": "string", "enum": list(MEDIA_TYPES), "default": "mp3"}),
    speed=shapes.optional({"type": "number", "minimum": SPEED_MIN, "maximum": SPEED_MAX}),
    stream_format=shapes.optional({"type": "string", "enum": ["audio", "sse"], "default": "audio"}),
)
SPEECH_REQUEST["example"] = {"model": "audio", "input": "Hello.", "voice": "alloy", "response_format": "wav"}
AUDIO: shapes.Schema = {
    "type": "string",
    "format": "binary",
    "description": "The audio as it comes from the upstream, under its media type. An answer whose connection is cut before "
    "its last chunk is not whole. The charge is in the usage record.",
}
SPEECH_EVENTS: shapes.Schema = {
    "type": "string",
    "description": "Server-sent events `speech.audio.delta` with the audio in base64, and `speech.audio.done`. The last line "
    'is the comment `: service {"usage_id":"use_…","charge_microusd":9}`.',
}
describe_speech = shapes.describe_metered(
    "create_speech", "Turn text into speech", SPEECH_REQUEST, {"audio/*": AUDIO, shapes.EVENTS: SPEECH_EVENTS}
)
