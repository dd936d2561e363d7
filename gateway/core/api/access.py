"""Access is declared on the action: a capability, a valid token, or nothing at all.

    @requires(Capability.WALLET_READ)
    def retrieve(self, request): ...

A start-up check (`gateway.core.checks`) refuses an action that declares nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from gateway.core.api.challenges import challenged
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import InsufficientScope, InvalidToken

_ATTRIBUTE = "declared_access"
Action = TypeVar("Action", bound=Callable[..., Any])


@dataclass(frozen=True)
class Access:
    """The requirements of an action. `roles` is SPEC's column of organization roles, for the reference and tests.

    `model` says that the capability is `infer:<the body's model>`. The action itself checks it, as everything else that
    a metered call needs, unless the call is `free`. `metered` marks an action with its own capability that is a metered
    call; its idempotency key is optional.
    """

    public: bool = False
    model: bool = False
    metered: bool = False
    free: bool = False
    capability: Capability | None = None
    roles: tuple[str, ...] = ()

    @property
    def is_metered(self) -> bool:
        """Return whether the action is a metered call."""
        return (self.model and not self.free) or self.metered


def requires(capability: Capability, *, roles: tuple[str, ...] = ()) -> Callable[[Action], Action]:
    """Declare that the action needs a token that carries the capability."""
    return _declare(Access(capability=capability, roles=roles))


def requires_model(action: Action) -> Action:
    """Declare that the action needs a token that carries `infer:<alias>` for the model that its body names."""
    return _declare(Access(model=True))(action)


def requires_model_free_of_charge(action: Action) -> Action:
    """Declare the same for an action that is not a metered call."""
    return _declare(Access(model=True, free=True))(action)


def requires_metered(capability: Capability) -> Callable[[Action], Action]:
    """Declare that the action is a metered call that needs a token with the capability, whichever model its body names."""
    return _declare(Access(metered=True, capability=capability))


def authenticated_only(action: Action) -> Action:
    """Declare that the action needs any valid token."""
    return _declare(Access())(action)


def public(action: Action) -> Action:
    """Declare that the action takes no access token."""
    return _declare(Access(public=True))(action)


def declared_access(view_class: type, action: str) -> Access | None:
    """Read what an action declares, or None if it declares nothing."""
    return getattr(getattr(view_class, action, None), _ATTRIBUTE, None)


def _declare(access: Access) -> Callable[[Action], Action]:
    def mark(action: Action) -> Action:
        setattr(action, _ATTRIBUTE, access)
        return action

    return mark


class DeclaredAccess(BasePermission):
    """Enforces what the action declares; refuses an action that declares nothing."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Return True, or raise the catalogue error that names what is missing."""
        access = declared_access(type(view), getattr(view, "action", "") or "")
        if access is None:
            return not view.action  # a method that the route does not support: DRF responds 405
        if access.public:
            return True
        caller: Any = request.user
        if caller is None:
            raise InvalidToken
        if access.capability:
            require_scope(caller.scopes, access.capability)
        return True


def require_scope(scopes: frozenset[str], scope: str) -> None:
    """Raise InsufficientScope, with the challenge of RFC 6750 section 3.1, unless the scope is granted."""
    if scope not in scopes:
        raise challenged(
            InsufficientScope(f"The token lacks the scope {scope}.", details={"scope": scope}), scope=scope
        )
