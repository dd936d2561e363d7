"""Warns the operator about requested capabilities that have no effect: those beyond the integration's, and unknown
models.
"""

import logging
from collections.abc import Iterable

from accounts.operations import model_names
from gateway.core.contract.capabilities import INFER_PREFIX

CAUSE_MAX_CHARACTERS = 500
ANY_MODEL = f"{INFER_PREFIX}*"

_logger = logging.getLogger(__name__)


def warn(*, issuer: str, excess: Iterable[str], granted: Iterable[str]) -> None:
    """Log one warning that lists capabilities that were not granted and those for unknown models, if there are any."""
    excess, unknown = " ".join(excess), " ".join(_unknown(granted))
    causes = [f"beyond the integration's capabilities: {excess}"] if excess else []
    causes += [f"for models that do not exist: {unknown}"] if unknown else []
    if causes:
        listed = "; ".join(cause[:CAUSE_MAX_CHARACTERS] for cause in causes)
        _logger.warning("an assertion from %s asks for capabilities %s", issuer, listed)


def _unknown(granted: Iterable[str]) -> list[str]:
    requested = [scope for scope in granted if scope.startswith(INFER_PREFIX) and scope != ANY_MODEL]
    known = model_names.registered().known() if requested else ()
    return [scope for scope in requested if scope.removeprefix(INFER_PREFIX) not in known]
