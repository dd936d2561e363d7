"""Transcriptions and translations in the API reference."""

from inference.routes.transcriptions.request import TRANSCRIPTION_FORMATS, TRANSLATION_FORMATS
from inference.serializers import reference as shapes

FORM = "multipart/form-data"
TEXT = "text/plain"
FILE: shapes.Schema = {
    "type": "string",
    "format": "binary",
    "description": "wav, mp3, m4a, mp4, ogg, flac or webm. The whole form may have 25 MiB.",
}
TRANSLATION_FORM = shapes.object_of(
    "model file",
    model=shapes.MODEL,
    file=FILE,
    prompt=shapes.TEXT,
    response_format={"type": "string", "enum": sorted(TRANSLATION_FORMATS), "default": "json"},
    temperature={"type": "number", "minimum": 0, "maximum": 1},
)
TRANSCRIPTION_FORM = shapes.object_of(
    "model file",
    model=shapes.MODEL,
    file=FILE,
    language=shapes.TEXT,
    prompt=shapes.TEXT,
    response_format={"type": "string", "enum": sorted(TRANSCRIPTION_FORMATS), "default": "json"},
    stream={"type": "boolean"},
    temperature={"type": "number", "minimum": 0, "maximum": 1},
)
TRANSCRIPTION_FORM["example"] = TRANSLATION_FORM["example"] = {"model": "audio", "file": "@speech.wav"}
ANSWER = shapes.object_of(
    "text",
    text=shapes.TEXT,
    duration=shapes.ANYTHING,
    segments=shapes.list_of(shapes.ANYTHING),
    usage=shapes.optional(shapes.object_of("type", type=shapes.TEXT)),
)
ANSWER["example"] = {"text": "Hello.", "usage": {"type": "duration", "seconds": 2}}
LINES: shapes.Schema = {"type": "string", "description": "With `response_format` `text`, `srt` or `vtt`."}
TRANSCRIPT_EVENTS: shapes.Schema = {
    "type": "string",
    "description": "Server-sent events `transcript.text.delta` and `transcript.text.done`. The last line is the comment "
    '`: service {"usage_id":"use_…","charge_microusd":9}`.',
}
describe_transcriptions = shapes.describe_metered(
    "create_transcription",
    "Transcribe a file, as JSON, text or a stream",
    TRANSCRIPTION_FORM,
    {shapes.JSON: ANSWER, TEXT: LINES, shapes.EVENTS: TRANSCRIPT_EVENTS},
    media_type=FORM,
)
describe_translations = shapes.describe_metered(
    "create_translation",
    "Translate a file into English, as JSON or text",
    TRANSLATION_FORM,
    {shapes.JSON: ANSWER, TEXT: LINES},
    media_type=FORM,
)
