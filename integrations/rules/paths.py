"""Checks the paths of a run's files, which must be below its working folder."""

from collections.abc import Iterable
from pathlib import PurePosixPath

PATH_MAX_BYTES = 512
NAME_MAX_BYTES = 255
FILES_MAX = 200


class BadPath(ValueError):
    """A path is refused. The text is the reason."""


def check_paths(paths: Iterable[str]) -> None:
    """Refuse paths that are absolute, leave the folder, cannot be created, or use one name as both file and folder."""
    known = set(paths)
    if len(known) > FILES_MAX:
        raise BadPath(f"there may be at most {FILES_MAX} files")
    for path in known:
        _check_path(path)
        folders = {str(folder) for folder in PurePosixPath(path).parents}
        if folders & known:
            raise BadPath("a file cannot also be a folder")


def _check_path(path: str) -> None:
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise BadPath("a path must be UTF-8") from None
    if not 0 < size <= PATH_MAX_BYTES:
        raise BadPath(f"a path must have 1 to {PATH_MAX_BYTES} bytes")
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        raise BadPath("a path must not contain control characters")
    for name in path.split("/"):
        if name in ("", ".", ".."):
            raise BadPath("a path must be relative, without empty parts, . and ..")
        if len(name.encode()) > NAME_MAX_BYTES:
            raise BadPath(f"a name may have at most {NAME_MAX_BYTES} bytes")
