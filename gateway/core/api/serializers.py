"""Serializer base classes that refuse unknown members and check JSON types strictly."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.validators import RegexValidator
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from gateway.core.api.names import validate_name
from gateway.core.api.times import read_rfc3339
from gateway.core.contract.limits import (
    CENT_MICROUSD,
    CHECKOUT_MAX_MICROUSD,
    CHECKOUT_MIN_MICROUSD,
    IDEMPOTENCY_KEY_MAX_CHARACTERS,
)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members that it does not know, naming the first one."""

    def to_internal_value(self, data: Any) -> Any:
        """Read the body's fields, or raise a ValidationError that names the one at fault."""
        unknown = [name for name in data if name not in self.fields] if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({unknown[0]: ["This field is unknown."]})
        return super().to_internal_value(data)


def read(shape: type[serializers.Serializer[Any]], data: Any) -> dict[str, Any]:
    """Return a request's body as validated, or raise a ValidationError that names the member at fault."""
    body = shape(data=data)
    body.is_valid(raise_exception=True)
    return body.validated_data


def check_no_members(request: Request) -> None:
    """Check the body of a route whose requests need none: it may be left out or empty, but not have members, which would
    seem to have an effect. Raises a ValidationError that names the first one."""
    if request.stream is not None:
        read(StrictSerializer, request.data)


class StrictStringField(serializers.CharField):
    """Text that must come as a JSON string."""

    def to_internal_value(self, data: Any) -> str:
        """Refuse numbers and booleans, which DRF would convert to text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class NameField(StrictStringField):
    """A name: text that shows as it is written, without leading and trailing spaces."""

    def to_internal_value(self, data: Any) -> str:
        """Check the name before stripping, because stripping would also remove some control characters."""
        if isinstance(data, str):
            validate_name(data)
        return super().to_internal_value(data)


class IdempotencyKeyField(StrictStringField):
    """A client's key for one logical request: 1 to 255 printable ASCII characters, used unchanged."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=IDEMPOTENCY_KEY_MAX_CHARACTERS, trim_whitespace=False, **options)
        self.validators.append(RegexValidator(r"\A[ -~]+\Z", "Use only printable ASCII characters."))


class StrictIntegerField(serializers.IntegerField):
    """A whole number that must come as a JSON integer: no string, no fraction, no boolean."""

    def to_internal_value(self, data: Any) -> int:
        """Refuse values that DRF would convert to a number."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field(
    {
        "type": "integer",
        "format": "int64",
        "minimum": CHECKOUT_MIN_MICROUSD,
        "maximum": CHECKOUT_MAX_MICROUSD,
        "multipleOf": CENT_MICROUSD,
    }
)
class WholeCentsField(StrictIntegerField):
    """An amount to pay, in micro-USD: a whole number of cents within the limits of a checkout."""

    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=CHECKOUT_MIN_MICROUSD, max_value=CHECKOUT_MAX_MICROUSD, **options)

    def to_internal_value(self, data: Any) -> int:
        """Refuse fractions of a cent, which cannot be paid."""
        amount = super().to_internal_value(data)
        if amount % CENT_MICROUSD:
            raise serializers.ValidationError("The amount must be a whole number of cents.")
        return amount


class StrictTimeField(serializers.DateTimeField):
    """An instant: text as in RFC 3339, with an offset."""

    default_error_messages = {"invalid": "Must be a time with an offset, such as 2027-01-31T00:00:00Z."}

    def to_internal_value(self, data: Any) -> datetime:
        """Return the instant in UTC. Refuse dates, numbers, and times that do not say where they are meant."""
        try:
            return read_rfc3339(data if isinstance(data, str) else "")
        except ValueError:
            self.fail("invalid")


class StrictBooleanField(serializers.BooleanField):
    """true or false, as JSON booleans."""

    def to_internal_value(self, data: Any) -> bool:
        """Refuse "true", 1 and similar values."""
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


def listing(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Build the serializer of a list response: `{"data": [item, …]}`."""
    members = {"data": item(many=True), "__doc__": f"A list of {item.__name__}."}
    return type(f"{item.__name__}List", (serializers.Serializer,), members)


def paged_listing(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Build the serializer of a paginated list response: `{"data": [item, …], "hasMore", "firstId", "lastId"}`."""
    members = {
        "data": item(many=True),
        "hasMore": serializers.BooleanField(help_text="Whether there are more: ask for them with `after=<lastId>`."),
        "firstId": serializers.CharField(allow_null=True, help_text="null if the page is empty."),
        "lastId": serializers.CharField(allow_null=True, help_text="null if the page is empty."),
        "__doc__": f"A page of a list of {item.__name__}.",
    }
    return type(f"{item.__name__}List", (serializers.Serializer,), members)
