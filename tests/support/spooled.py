"""What this process still has of its uploads."""

from pathlib import Path

from django.conf import settings


def open_uploads() -> list[str]:
    """List the files without a name in the folder for uploads that the process has open."""
    found = []
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except FileNotFoundError:  # the listing's own
            continue
        if target.endswith(" (deleted)") and target.startswith(f"{settings.UPLOADS_DIR}/"):
            found.append(target)
    return found
