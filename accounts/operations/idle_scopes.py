"""Warns the operator about capabilities that an assertion cannot get: those beyond the integration's, and unknown
models."""

import logging
from collections.abc import Iterable

from accounts.operations import model_names
from gateway.core.contract.capabilities import INFER_PREFIX

TOLD_MAX_CHARACTERS = 500
ANY_MODEL = f"{INFER_PREFIX}*"

_logger = logging.getLogger(__name__)


def warn(*, issuer: str, excess: Iterable[str], granted: Iterable[str]) -> None:
    """Log one warning that names what was not granted and what was granted for unknown models; log nothing
    otherwise."""
    excess, unknown = " ".join(excess), " ".join(_unknown(granted))
    causes = [f"beyond the integration's capabilities: {excess}"] if excess else []
    causes += [f"for models that do not exist: {unknown}"] if unknown else []
    if causes:
        told = "; ".join(cause[:TOLD_MAX_CHARACTERS] for cause in causes)
        _logger.warning("an assertion from %s asks for capabilities %s", issuer, told)


def _unknown(granted: Iterable[str]) -> list[str]:
    asked = [scope for scope in granted if scope.startswith(INFER_PREFIX) and scope != ANY_MODEL]
    known = model_names.registered().known() if asked else ()
    return [scope for scope in asked if scope.removeprefix(INFER_PREFIX) not in known]
