"""Finds the files of installed packages."""

from importlib.util import find_spec
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured


def folder_of(package: str) -> Path:
    """Return a package's folder, without importing the package. Raises ImproperlyConfigured where it is not installed."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ImproperlyConfigured(f"{package} is not installed. Install what requirements.txt pins.")
    return Path(found.submodule_search_locations[0])
