"""Reads the settings before anything else does, so that a process ends with words and not with a traceback."""

import os
import sys

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured


def load_settings(*, exit_code: int = 1) -> None:
    """Read the settings. Where any is missing or wrong, print every one of them to standard error and end the process."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings")
    try:
        settings.INSTALLED_APPS  # noqa: B018 - reads them
    except ImproperlyConfigured as error:
        sys.stderr.write(f"gateway: {error}\n")
        sys.exit(exit_code)
