"""WAV: the length follows from the number of bytes and the rate, because its samples are not compressed."""

from inference.rules.audio.reading import Reading, UnreadableAudio
from inference.rules.audio.source import WINDOW_BYTES, AudioFile
from inference.rules.audio.tag import read_tag

_BITS = {"1": None, "3": None, "6": 8, "7": 8}
"""PCM and floating point, whose header states the bits per sample; A-law and mu-law, which have 8."""
_HEADER_BYTES = 44


def read_wav(file: AudioFile) -> Reading:
    """Count every byte after the smallest header as audio: a decoder does so if the header states too few. A header
    that states more, as from recorders that cannot seek back, is ignored."""
    tag = read_tag(file, WINDOW_BYTES)
    codec = (tag.mime_type or "").partition('codecs="')[2].rstrip('"')
    if codec not in _BITS:
        raise UnreadableAudio("A WAV file must hold PCM, floating-point, A-law or mu-law samples.")
    rate = (tag.samplerate or 0) * (tag.channels or 0) * (_BITS[codec] or tag.bitdepth or 0) / 8
    if rate <= 0:
        raise UnreadableAudio("The WAV header has no sample rate, channels or bits.")
    seconds = max(file.size_bytes - _HEADER_BYTES, 0) / rate
    is_told = codec not in ("6", "7") and tag.duration is not None and tag.duration <= seconds
    return Reading(tag.duration if is_told else None, seconds)
