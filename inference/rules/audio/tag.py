"""Reads the header of a wav or flac file with tinytag, which gets no more of the file than its header."""

from io import BytesIO

from tinytag import TinyTag

from inference.rules.audio.source import AudioFile


def read_tag(file: AudioFile, size_bytes: int) -> TinyTag:
    """Read the properties in the file's first bytes. Raises TinyTagException.

    Given all of a file, tinytag would parse any number of empty parts, and samples as headers.
    """
    return TinyTag.get(file_obj=BytesIO(file.at(0, size_bytes)), tags=False)
