"""What the environment alone configures. SPEC: Judgement request (one credential alone enables judgement).

`JUDGEMENT_BACKEND_A_API_KEY` makes the upstream, the alias and the default text backend that nobody else has set; what
the file or the database says about them wins.
"""

from collections.abc import Mapping
from typing import Any

from gateway.config.document import Document, from_value
from gateway.config.problems import ConfigError, Problem
from gateway.config.secret import is_secret
from gateway.core.addresses import WEB_WORDS, is_web_address
from inference.models import Alias
from judgement.models import JudgementSettings

KEY_VARIABLE = "JUDGEMENT_BACKEND_A_API_KEY"
URL_VARIABLE = "JUDGEMENT_BACKEND_A_URL"
BACKEND = "judgement-backend-a"
# The backend's neutral name stands for no vendor, so its default address is one that never resolves to a stranger.
DEFAULT_URL = "https://judgement-backend-a.example/v1"
# In micro-USD, as published. SPEC: Limits.
DEFAULT_PRICE = {"input_token": "0.042"}


def environment_document(document: Document, environment: Mapping[str, str]) -> Document:
    """Build the rows that the environment configures and that neither the file nor the database defines."""
    if not environment.get(KEY_VARIABLE):
        return from_value({})
    check_environment(environment)
    value: dict[str, Any] = {}
    if BACKEND not in _names(document, "upstreams"):
        value["upstreams"] = [_upstream(environment)]
    if BACKEND not in _names(document, "aliases") and not Alias.objects.filter(name=BACKEND).exists():
        value["aliases"] = [_alias()]
    if not _has_text_backend(document):
        value["judgement"] = {"text_backend": BACKEND}
    return from_value(value)


def check_environment(environment: Mapping[str, str]) -> None:
    """Refuse an invalid credential, and an address that it must not be sent to. Raises ConfigError."""
    if not environment.get(KEY_VARIABLE):
        return
    if not is_secret(environment[KEY_VARIABLE].strip()):
        raise ConfigError([Problem(0, (KEY_VARIABLE,), "is not a usable credential")])
    if not is_web_address(environment.get(URL_VARIABLE) or DEFAULT_URL):
        raise ConfigError([Problem(0, (URL_VARIABLE,), WEB_WORDS)])


def _upstream(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": BACKEND,
        "adapter": "judgement",
        "base_url": environment.get(URL_VARIABLE) or DEFAULT_URL,
        "api_key": {"env": KEY_VARIABLE},
    }


def _alias() -> dict[str, Any]:
    return {
        "name": BACKEND,
        "deployments": [{"upstream": BACKEND, "model": BACKEND}],
        "price": DEFAULT_PRICE,
    }


def _has_text_backend(document: Document) -> bool:
    section = document.value.get("judgement")
    stated = isinstance(section, dict) and "text_backend" in section
    return stated or JudgementSettings.objects.filter(text_backend__isnull=False).exists()


def _names(document: Document, section: str) -> set[str]:
    rows = document.value.get(section)
    return {str(row.get("name")) for row in rows if isinstance(row, dict)} if isinstance(rows, list) else set()
