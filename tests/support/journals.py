"""The journals in a folder."""

from pathlib import Path

from inference.metering.journal_folder import ID_FILE


def journals_in(folder: Path) -> list[Path]:
    """Return all files but that with the folder's id."""
    return [path for path in folder.iterdir() if path.name != ID_FILE]
