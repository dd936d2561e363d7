"""Serializer bases: a typo in a body must not pass, and a count is a JSON integer."""

from typing import Any

from rest_framework import serializers


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members that it does not know, naming the first one."""

    def to_internal_value(self, data: Any) -> Any:
        """Read the body's members, or raise a ValidationError that names the one at fault."""
        unknown = [name for name in data if name not in self.fields]
        if unknown:
            raise serializers.ValidationError({unknown[0]: ["This member is not known here."]})
        return super().to_internal_value(data)


class StrictStringField(serializers.CharField):
    """Text that must come as a JSON string."""

    def to_internal_value(self, data: Any) -> str:
        """Refuse numbers and booleans, which DRF would turn into text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictIntegerField(serializers.IntegerField):
    """A whole number that must come as a JSON integer: no string, no fraction, no boolean."""

    def to_internal_value(self, data: Any) -> int:
        """Refuse what DRF would turn into a number."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictBooleanField(serializers.BooleanField):
    """true or false, as JSON has them."""

    def to_internal_value(self, data: Any) -> bool:
        """Refuse "true", 1 and their like."""
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


def listing(item: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Make the serializer of a list answer: `{"data": [item, …]}`."""
    members = {"data": item(many=True), "__doc__": f"A list of {item.__name__}."}
    return type(f"{item.__name__}List", (serializers.Serializer,), members)
