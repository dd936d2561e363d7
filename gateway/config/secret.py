"""Secrets in the file: literal text, or `{env: NAME}`."""

import re
from typing import Annotated

from pydantic import BeforeValidator, SecretStr, ValidationInfo

from gateway.config.context import Context, context_of

SECRET_MAX_CHARACTERS = 4096

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VALUE = re.compile(rf"[\x21-\x7e]{{1,{SECRET_MAX_CHARACTERS}}}")


def is_secret(text: str) -> bool:
    """Return whether text is valid in an Authorization header."""
    return _VALUE.fullmatch(text) is not None


def _resolve(value: object, info: ValidationInfo) -> SecretStr | None:
    """Resolve the secret; null is not a secret. No message ever quotes the file's content."""
    if value is None:
        return None
    text = value if isinstance(value, str) else _from_environment(value, context_of(info))
    if not is_secret(text):
        raise ValueError(f"a secret is 1 to {SECRET_MAX_CHARACTERS} printable ASCII characters without spaces")
    return SecretStr(text)


def _from_environment(value: object, context: Context) -> str:
    name = value.get("env") if isinstance(value, dict) and set(value) == {"env"} else None
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("must be text or {env: NAME}")
    if name not in context.environment:
        raise ValueError(f"the environment variable {name} is not set")
    # A value read from a file often ends in a newline.
    return context.environment[name].strip()


Secret = Annotated[SecretStr | None, BeforeValidator(_resolve)]
