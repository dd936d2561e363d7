"""Finds the open uploads of this process."""

from pathlib import Path

from django.conf import settings


def open_uploads() -> list[str]:
    """List the unnamed files in the folder for uploads that the process has open."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:  # of the listing itself
            continue
        if target.endswith(" (deleted)") and target.startswith(f"{settings.UPLOADS_DIR}/"):
            found.append(target)
    return found
