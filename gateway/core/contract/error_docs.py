"""The address of each error's documentation, which every error body names."""

from collections.abc import Callable
from typing import ClassVar

ERRORS_PATH = "/docs/errors"


class ErrorDocs:
    """Where errors are explained. `base_url` returns the gateway's public base URL; without it, addresses are relative."""

    base_url: ClassVar[Callable[[], str]] = str

    @classmethod
    def url(cls, code: str) -> str:
        """Return the address of a code's section: `https://gateway.example/docs/errors#insufficient_funds`."""
        return f"{cls.base_url()}{ERRORS_PATH}#{code}"
