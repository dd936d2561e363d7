"""The treatment of every field of the vendor's form; docs/audio-fields.md has the same tables."""

from collections.abc import Mapping

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

PASSED, BOUNDED, REFUSED = Treatment.PASSED, Treatment.BOUNDED, Treatment.REFUSED

_FLAT = "It does not change the price of a second."
_MORE_AUDIO = "It contains audio that the hold does not cover."
_FILE = Member(
    BOUNDED,
    "The hold is for its length, which is read from the file itself. It is sent upstream under a name of the gateway's choice.",
)
_MODEL = Member(BOUNDED, "It selects the prices. The model of a deployment goes upstream in its place.")
_FORMAT = "The upstream's answer is returned unchanged."

TRANSLATION: Mapping[str, Member] = {
    "file": _FILE,
    "model": _MODEL,
    "prompt": Member(PASSED, _FLAT),
    "response_format": Member(PASSED, f"`json`, `text`, `srt`, `verbose_json` or `vtt`. {_FORMAT}"),
    "temperature": Member(PASSED, _FLAT),
}
"""Every field of a translation."""

TRANSCRIPTION: Mapping[str, Member] = {
    "chunking_strategy": Member(PASSED, _FLAT),
    "file": _FILE,
    "include": Member(PASSED, _FLAT),
    "keywords": Member(PASSED, _FLAT),
    "known_speaker_names": Member(REFUSED, "It names audio samples, which are refused."),
    "known_speaker_references": Member(REFUSED, _MORE_AUDIO),
    "language": Member(PASSED, _FLAT),
    "languages": Member(PASSED, _FLAT),
    "model": _MODEL,
    "prompt": Member(PASSED, _FLAT),
    "response_format": Member(PASSED, f"`json`, `text`, `srt`, `verbose_json`, `vtt` or `diarized_json`. {_FORMAT}"),
    "stream": Member(PASSED, "A stream costs what the same answer in one piece costs."),
    "temperature": Member(PASSED, _FLAT),
    "timestamp_granularities": Member(PASSED, _FLAT),
}
"""Every field of a transcription."""

_NOT_HERE = {
    "stream": Member(REFUSED, "A translation is not streamed.", allowed=(False,)),
    "url": Member(REFUSED, "The sound comes with the request."),
    "file_url": Member(REFUSED, "The sound comes with the request."),
    "file_id": Member(REFUSED, "A file at the model's provider could be another customer's."),
}
TRANSLATION_MEMBERS: Mapping[str, Member] = {**REFUSED_EVERYWHERE, **_NOT_HERE, **TRANSLATION}
TRANSCRIPTION_MEMBERS: Mapping[str, Member] = {**REFUSED_EVERYWHERE, **_NOT_HERE, **TRANSCRIPTION}
