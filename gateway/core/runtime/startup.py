"""Loads the settings first, so that invalid settings end a process with a message instead of a traceback."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def load_settings(*, exit_code: int = 1) -> None:
    """Load the settings. If any are missing or wrong, print all problems to standard error and exit."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")
    try:
        settings.INSTALLED_APPS  # noqa: B018 - reads them
    except ImproperlyConfigured as error:
        sys.stderr.write(f"gateway: {error}\n")
        sys.exit(exit_code)
