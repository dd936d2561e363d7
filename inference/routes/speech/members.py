"""The treatment of every member of the vendor's request; docs/audio-fields.md has the same tables."""

from collections.abc import Mapping

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment

PASSED, BOUNDED, REFUSED = Treatment.PASSED, Treatment.BOUNDED, Treatment.REFUSED

VENDOR: Mapping[str, Member] = {
    "input": Member(BOUNDED, "Up to 4096 characters, each of which is charged."),
    "instructions": Member(BOUNDED, "Up to 4096 characters, each of which is charged as one of `input`."),
    "model": Member(BOUNDED, "It selects the prices. The model of a deployment goes upstream in its place."),
    "response_format": Member(PASSED, "`mp3`, `opus`, `aac`, `flac`, `wav` or `pcm`; the answer must be of that type."),
    "speed": Member(PASSED, "From 0.25 to 4: a character costs the same however fast it is spoken."),
    "stream_format": Member(PASSED, "`audio` or `sse`: both cost the same."),
    "voice": Member(PASSED, "The name of a voice."),
}
"""Every member of the vendor's request."""

INSIDE: Mapping[str, Member] = {
    "voice.id": Member(REFUSED, "A voice at the model's provider could be another customer's."),
}
_NOT_HERE = {
    name: Member(REFUSED, "It contains audio that no price covers.")
    for name in ("ref_audio", "reference_audio", "reference_id", "speaker_embedding", "voice_id")
}
SPEECH_MEMBERS: Mapping[str, Member] = {**REFUSED_EVERYWHERE, **_NOT_HERE, **VENDOR}
