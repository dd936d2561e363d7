"""Validates a transcription or a translation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.transcriptions.members import TRANSCRIPTION_MEMBERS, TRANSLATION_MEMBERS
from inference.rules.audio.length import AudioLength
from inference.rules.form_body import FormBody, SpooledFile, base_name
from inference.rules.members import Member, refuse_members

TEXT_FORMATS = frozenset({"text", "srt", "vtt"})
TRANSLATION_FORMATS = frozenset({"json", "verbose_json"}) | TEXT_FORMATS
TRANSCRIPTION_FORMATS = TRANSLATION_FORMATS | {"diarized_json"}
_OURS = ("model", "stream")
_FLAGS = {"true": True, "True": True, "false": False, "False": False, "": None}


@dataclass(frozen=True, slots=True)
class TranscriptionRequest:
    """A valid form. `fields` are the client's, except `model` and `stream`, as sent upstream; `length` is None until the
    file is measured."""

    fields: Sequence[tuple[str, str]]
    file: SpooledFile
    answer_format: str
    streams: bool
    length: AudioLength | None = None
    is_large: bool = False

    @property
    def seconds(self) -> int:
        """Return the file's seconds; until it is measured, the least that a file can have."""
        return self.length.seconds if self.length else 1

    @property
    def container(self) -> str:
        """Return the container of a file that is measured."""
        assert self.length is not None
        return self.length.container

    @property
    def is_text(self) -> bool:
        """Return whether the response is plain text, not JSON."""
        return self.answer_format in TEXT_FORMATS


def read_transcription(sent: FormBody, model: ServedModel) -> TranscriptionRequest:
    """Validate a transcription, or raise InvalidRequest naming the field at fault."""
    return _read(sent, TRANSCRIPTION_MEMBERS, TRANSCRIPTION_FORMATS, streams=sent.flag("stream"))


def read_translation(sent: FormBody, model: ServedModel) -> TranscriptionRequest:
    """Validate a translation, or raise InvalidRequest naming the field at fault."""
    return _read(sent, TRANSLATION_MEMBERS, TRANSLATION_FORMATS, streams=False)


def _read(
    sent: FormBody, table: Mapping[str, Member], formats: Collection[str], *, streams: bool
) -> TranscriptionRequest:
    refuse_members({base_name(name): _FLAGS.get(value, value) for name, value in sent.fields}, table)
    if sent.file_field != "file":
        raise InvalidRequest("The file must be in the field file.", param=sent.file_field)
    if any(base_name(name) == "file" for name, _ in sent.fields):
        raise InvalidRequest("file may be sent once.", param="file")
    answer_format = sent.one("response_format") or "json"
    if answer_format not in formats:
        raise InvalidRequest(f"response_format must be {', '.join(sorted(formats))}.", param="response_format")
    for name in ("language", "prompt", "temperature"):
        sent.one(name)
    fields = tuple((name, value) for name, value in sent.fields if base_name(name) not in _OURS)
    return TranscriptionRequest(fields, sent.file, answer_format, streams)
