"""Compares installed libraries with the releases that the tests have seen, which `requirements.txt` pins.

Only libraries are compared of which the gateway uses more than their documentation (docs/decisions/0065). Another release of one of
these may change what the gateway relies on without a word, and a `pip install --upgrade` does not look at the pins.
"""

import re
from importlib import metadata

from django.conf import settings

LIBRARIES = (
    "aiohttp",
    "django",
    "django-allauth",
    "djangorestframework",
    "drf-spectacular",
    "kombu",
    "prometheus-client",
    "psycopg",
    "uvicorn",
    "websockets",
)

HINT = "Install what requirements.txt pins: pip install --require-hashes --requirement requirements.txt"

_PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)


def differences() -> list[str]:
    """Return a sentence for each library that is installed in another version than the tested one."""
    tested = _pinned()
    installed = {name: metadata.version(name) for name in LIBRARIES}
    return [
        f"{name} {version} is installed, but this gateway was tested with {tested.get(name, 'no known version of it')}."
        for name, version in installed.items()
        if version != tested.get(name)
    ]


def _pinned() -> dict[str, str]:
    try:
        text = (settings.BASE_DIR / "requirements.txt").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(_PIN.findall(text))
