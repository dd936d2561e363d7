"""Describes every action for OpenAPI from its declarations: its access, its body, and its possible errors.

An action declares the rest with `extend_schema` (drf-spectacular) and `refuses`:

    @extend_schema(summary="The wallet", responses=WalletResponse)
    @requires(Capability.WALLET_READ)
    def retrieve(self, request): ...
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from drf_spectacular.plumbing import ComponentRegistry
from drf_spectacular.utils import extend_schema

from gateway.core.api.access import Access, declared_access
from gateway.core.api.schema_components import (
    ANSWER_HEADERS,
    ERROR_HEADERS,
    METERED_ANSWER_HEADERS,
    METERED_PARAMETERS,
    RATE_LIMIT_HEADERS,
    REPEATABLE_PARAMETERS,
    REQUEST_ID_PARAMETER,
    SECURITY,
    reference,
)
from gateway.core.api.schema_errors import NAME_OF_STYLE, one_of
from gateway.core.api.spectacular_internals import ActionSchema
from gateway.core.contract import errors
from gateway.core.contract.errors import ApiError

CODES = "x-error-codes"
Action = TypeVar("Action", bound=Callable[..., Any])
Operation = dict[str, Any]

# The first segment of a path selects the chapter of the reference page.
CHAPTERS = {
    **dict.fromkeys(("chat", "messages", "responses"), "Chat"),
    **dict.fromkeys(("embeddings", "late-interaction", "rerank"), "Embeddings and ranking"),
    **dict.fromkeys(("audio", "images"), "Audio and images"),
    "judgement": "Judgements",
    "realtime": "Live sessions",
    **dict.fromkeys(("auth", "oauth", "public"), "Tokens"),
    "org-invitations": "Organizations",
    **dict.fromkeys(("ci", "evolution", "projects", "sandbox", "sync"), "Integrations"),
}
# Control characters in a path, a query or a header are an invalid request everywhere.
ALWAYS: tuple[type[ApiError], ...] = (errors.InvalidRequest, errors.InternalError, errors.NotReady)
# An organization's token ends with the access that it stands for, whatever it is used for.
ACCESS = (errors.NotMember, errors.NoSeat, errors.ProductDisabled)
PROTECTED = (errors.InvalidToken, errors.InvalidDpopProof, errors.UseDpopNonce, *ACCESS)
TOKEN_ROUTE = (errors.InvalidGrant, errors.InvalidScope, errors.InvalidDpopProof, errors.UseDpopNonce)
BODY = (errors.InvalidRequest, errors.InvalidJson, errors.RequestTooLarge, errors.UnsupportedMediaType)
METERED = (
    errors.MaxCostRequired,
    errors.InsufficientFunds,
    errors.BudgetExceeded,
    errors.MaxCostExceeded,
    errors.InsufficientScope,
    errors.ModelNotFound,
    errors.IdempotencyInProgress,
    errors.InputTooLarge,
    errors.IdempotencyKeyReused,
    errors.RateLimited,
    errors.UpstreamError,
    errors.UpstreamInvalid,
    errors.ModelUnavailable,
    errors.UpstreamOverloaded,
    errors.UpstreamTimeout,
)


def refuses(*refusals: type[ApiError], status: int | None = None) -> Callable[[Action], Action]:
    """Declare the errors of an action beyond those that follow from its access and body.

    `status` replaces the catalogue's status for this action.
    """
    codes = {refusal.code: status or refusal.default_status for refusal in refusals}
    decorate: Callable[[Action], Action] = extend_schema(extensions={CODES: codes})
    return decorate


class GatewaySchema(ActionSchema):
    """drf-spectacular's schema of one action, completed."""

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> Operation | None:
        operation: Operation | None = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is None:
            return None
        operation["security"] = [] if self._access.public else [SECURITY]
        if self._is_metered or self._is_token_route:
            operation["requestBody"]["required"] = True  # drf-spectacular sets this only for plain serializers
        self._add_parameters(operation)
        self._add_answer_headers(operation)
        self._add_errors(operation)
        return operation

    def get_auth(self) -> list[dict[str, Any]]:
        """Leave authentication to the access that the action declares."""
        return []

    def get_description(self) -> str:  # type: ignore[override]
        """Return the action's docstring and its access requirements. Overrides drf-spectacular's method, which has no
        parameters either."""
        return "\n\n".join(part for part in (super().get_description(), _needs(self._access)) if part)

    def needs_body(self) -> bool:
        """Return True even if each of the body's members has a default, unless its serializer says otherwise."""
        return not getattr(self.get_request_serializer(), "may_be_left_out", False)

    def get_tags(self) -> list[str]:
        """Return the chapter of the reference page."""
        chapter = self.path.removeprefix("/v1/").partition("/")[0]
        return [CHAPTERS.get(chapter, chapter.replace("-", " ").capitalize())]

    @property
    def _access(self) -> Access:
        action = getattr(self.view, "action", None) or ""
        return declared_access(type(self.view), action) or Access()

    @property
    def _error_style(self) -> str:
        return getattr(self.view, "error_style", "api")

    @property
    def _is_token_route(self) -> bool:
        return self._error_style == "oauth"

    @property
    def _is_metered(self) -> bool:
        return self._access.is_metered

    @property
    def _is_limited(self) -> bool:
        """Whether there are limits that answers state: everywhere but on public documents."""
        return self._is_token_route or not self._access.public

    def _add_parameters(self, operation: Operation) -> None:
        metered = REPEATABLE_PARAMETERS if self._access.metered else METERED_PARAMETERS
        added = [REQUEST_ID_PARAMETER, *(metered if self._is_metered else ())]
        operation.setdefault("parameters", []).extend(reference("parameters", name) for name in added)

    def _add_answer_headers(self, operation: Operation) -> None:
        limits = RATE_LIMIT_HEADERS if self._is_limited else ()
        names = (*ANSWER_HEADERS, *(METERED_ANSWER_HEADERS if self._is_metered else limits))
        for answer in operation["responses"].values():
            answer.setdefault("headers", {}).update({name: reference("headers", name) for name in names})

    def _add_errors(self, operation: Operation) -> None:
        statuses = {error.code: self._status_of(error) for error in self._implied(operation)}
        by_status: dict[int, list[type[ApiError]]] = {}
        for code, status in sorted({**statuses, **operation.pop(CODES, {})}.items()):
            by_status.setdefault(status, []).append(errors.CATALOGUE[code])
        name_of = NAME_OF_STYLE[self._error_style]
        for status, refusals in by_status.items():
            schema = one_of([name_of(refusal) for refusal in refusals])
            operation["responses"][str(status)] = _error_answer(status, refusals, schema)
            if self._is_limited and status != 401:
                headers = operation["responses"][str(status)]["headers"]
                headers.update({name: reference("headers", name) for name in RATE_LIMIT_HEADERS})
        operation["responses"] = dict(sorted(operation["responses"].items()))

    def _implied(self, operation: Operation) -> Iterable[type[ApiError]]:
        yield from ALWAYS
        if not self._access.public:
            yield from PROTECTED if self._is_metered else (*PROTECTED, errors.RateLimited)
        if self._is_token_route:
            yield from TOKEN_ROUTE
        if self._access.capability:
            yield errors.InsufficientScope
        if self._access.roles:
            yield errors.Forbidden
        if "requestBody" in operation:
            yield from BODY
        if any(parameter.get("in") == "query" for parameter in operation["parameters"]):
            yield errors.InvalidRequest
        if "{" in self.path:
            yield errors.NotFound
        if self._is_metered and not self._access.metered:
            yield errors.IdempotencyKeyRequired
        if self._is_metered:
            yield from METERED

    def _status_of(self, error: type[ApiError]) -> int:
        # RFC 9449 sections 5 and 8: on a token route, a bad proof is an invalid request.
        if self._is_token_route and error in (errors.InvalidDpopProof, errors.UseDpopNonce):
            return 400
        # For a token, a disabled product means missing access; only the assignment of a seat conflicts with it.
        if error is errors.ProductDisabled:
            return 403
        return error.default_status


def _needs(access: Access) -> str:
    if access.public:
        return ""
    if access.model:
        return "Needs the capability `infer:<model>` for the model named in the body."
    needs = f"Needs the capability `{access.capability}`." if access.capability else "Needs a valid token."
    return f"{needs} Roles: {', '.join(access.roles)}." if access.roles else needs


def _error_answer(status: int, refusals: list[type[ApiError]], schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "description": "\n".join(f"- `{refusal.code}`: {refusal.default_message}" for refusal in refusals),
        "headers": {name: reference("headers", name) for name in (*ANSWER_HEADERS, *ERROR_HEADERS.get(status, ()))},
        "content": {"application/json": {"schema": schema}},
    }
