"""Help with each error of the catalogue: what `docs/errors.md` and the page at /docs/errors say."""

from collections.abc import Mapping

from gateway.core.contract.error_help.access import ACCESS
from gateway.core.contract.error_help.failures import FAILURES
from gateway.core.contract.error_help.help import ErrorHelp, Retry
from gateway.core.contract.error_help.money import MONEY
from gateway.core.contract.error_help.organizations import ORGANIZATIONS
from gateway.core.contract.error_help.requests import REQUESTS
from gateway.core.contract.errors import ApiError

__all__ = ["HELP", "ErrorHelp", "Retry"]

HELP: Mapping[type[ApiError], ErrorHelp] = {**REQUESTS, **ACCESS, **MONEY, **ORGANIZATIONS, **FAILURES}
