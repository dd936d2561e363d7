"""The rows that only environment variables configure. SPEC: Judgement request (one credential enables judgement).

`JUDGEMENT_BACKEND_A_API_KEY` adds the upstream, the alias and the default text backend if they are not configured; rows
of the file or the database take precedence. An alias that only the demo serves counts as not configured.
"""

from collections.abc import Mapping
from typing import Any

from gateway.config.document import Document, from_value
from gateway.config.problems import ConfigError, Path, Problem
from gateway.config.secret import is_secret
from gateway.core.contract.addresses import WEB_WORDS, is_web_address
from inference.models import Alias, Deployment, Upstream
from judgement.models import JudgementSettings

KEY_VARIABLE = "JUDGEMENT_BACKEND_A_API_KEY"
URL_VARIABLE = "JUDGEMENT_BACKEND_A_URL"
BACKEND = "judgement-backend-a"
# The backend's neutral name stands for no vendor, so its default address is one that never resolves to a third party.
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
    if (BACKEND not in _names(document, "aliases") or replaced_rows(document, environment)) and not _is_stored():
        value["aliases"] = [_alias()]
    if not _has_text_backend(document):
        value["judgement"] = {"text_backend": BACKEND}
    return from_value(value)


def replaced_rows(document: Document, environment: Mapping[str, str]) -> frozenset[Path]:
    """Return the paths of the rows that the environment's rows replace: the alias, if only the demo serves it."""
    if not environment.get(KEY_VARIABLE):
        return frozenset()
    demos = {
        str(row.get("name")) for row in _rows(document, "upstreams") if row.get("adapter") == Upstream.Adapter.DEMO
    }
    aliases = enumerate(_rows(document, "aliases"))
    return frozenset(
        ("aliases", index)
        for index, row in aliases
        if row.get("name") == BACKEND and (served := _upstreams_of(row)) and served <= demos
    )


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


def _is_stored() -> bool:
    """Return whether the database has the alias, at more than the demo upstream."""
    deployments = Deployment.objects.filter(alias__name=BACKEND)
    is_demo = deployments.exists() and not deployments.exclude(upstream__adapter=Upstream.Adapter.DEMO).exists()
    return Alias.objects.filter(name=BACKEND).exists() and not is_demo


def _has_text_backend(document: Document) -> bool:
    section = document.value.get("judgement")
    stated = isinstance(section, dict) and "text_backend" in section
    return stated or JudgementSettings.objects.filter(text_backend__isnull=False).exists()


def _names(document: Document, section: str) -> set[str]:
    return {str(row.get("name")) for row in _rows(document, section)}


def _rows(document: Document, section: str) -> list[dict[str, Any]]:
    """Return the rows of a section. An invalid row is returned as an empty one, so that indexes stay the same."""
    rows = document.value.get(section)
    return [row if isinstance(row, dict) else {} for row in rows] if isinstance(rows, list) else []


def _upstreams_of(alias: dict[str, Any]) -> set[Any]:
    deployments = alias.get("deployments")
    return (
        {str(row.get("upstream")) for row in deployments if isinstance(row, dict)}
        if isinstance(deployments, list)
        else set()
    )
