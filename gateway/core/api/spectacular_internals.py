"""What the gateway uses of drf-spectacular's private names, which any release may change (docs/decisions/0065)."""

from typing import Any

from drf_spectacular.openapi import AutoSchema


class ActionSchema(AutoSchema):
    """The schema of one action, without drf-spectacular's guesses about its body and its responses.

    A response that is declared without a status is a 200, not a 201 or 204, and never a bare array.
    """

    def needs_body(self) -> bool:
        """Hook: return whether a request without the body is refused, if the action takes one."""
        return True

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        declared: Any = self.get_response_serializers()
        if isinstance(declared, dict):
            described: dict[str, Any] = super()._get_response_bodies(direction)
            return described
        return {"200": self._get_response_for_code(declared, "200", direction=direction)}

    def _get_request_body(self, direction: Any = "request") -> dict[str, Any] | None:
        described: dict[str, Any] | None = super()._get_request_body(direction)
        if described is not None:
            described["required"] = self.needs_body()
        return described

    def _is_list_view(self, serializer: Any = None) -> bool:
        return False
