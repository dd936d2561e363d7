"""Wire formats of artifacts, evidence and revisions."""

import json
import re
from typing import Any

import orjson
from django.core.validators import RegexValidator
from rest_framework import serializers

from gateway.core.api.serializers import StrictIntegerField, StrictSerializer, StrictStringField, paged_listing
from gateway.core.contract.limits import ARTIFACT_MAX_BYTES, METADATA_MAX_BYTES
from integrations.models import EvolutionArtifact
from integrations.rules import contents

ENCODINGS = ("utf-8", "base64")
REVISION_MAX = 2**31 - 1

_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")  # the escape itself, not an escaped backslash before u0000


class KindField(StrictStringField):
    """A kind: 1 to 64 letters, digits and . _ -."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=64, trim_whitespace=False, **options)
        self.validators.append(RegexValidator(rf"\A{contents.KIND}\Z", "Use letters, digits and . _ - only."))


def _bounded(value: Any) -> Any:
    """Refuse JSON that is too long or that the database cannot store."""
    try:
        json.dumps(value)
    except TypeError:  # the JSON parser returns integers beyond 64 bits as raw text
        raise serializers.ValidationError("An integer may have at most 64 bits.") from None
    written = orjson.dumps(value)
    if _NUL.search(written):
        raise serializers.ValidationError("NUL characters cannot be stored.")
    if len(written) > METADATA_MAX_BYTES:
        raise serializers.ValidationError(f"At most {METADATA_MAX_BYTES // 1024} KiB of JSON.")
    return value


class ArtifactRequest(StrictSerializer):
    """The body of POST /v1/evolution/artifacts."""

    kind = KindField()
    content = StrictStringField(allow_blank=True, trim_whitespace=False, help_text="At most 1 MiB, decoded.")
    encoding = serializers.ChoiceField(ENCODINGS, default="utf-8")
    metadata = serializers.DictField(default=dict)

    def validate_metadata(self, value: dict[str, Any]) -> dict[str, Any]:
        return _bounded(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        try:
            content = contents.decode(attrs["content"], attrs["encoding"])
        except contents.UnreadableContent as error:
            raise serializers.ValidationError({"content": [f"The content is {error}."]}) from None
        if len(content) > ARTIFACT_MAX_BYTES:
            raise serializers.ValidationError({"content": ["An artifact may have at most 1 MiB."]})
        return {**attrs, "content": content}


class ArtifactResponse(serializers.Serializer[Any]):
    """An artifact without its content."""

    artifactId = serializers.CharField(source="id")
    kind = serializers.CharField()
    contentSha256 = serializers.CharField(source="sha256", help_text="Hexadecimal.")
    size = serializers.IntegerField(help_text="Bytes.")
    metadata = serializers.DictField()
    createdAt = serializers.DateTimeField(source="created_at")


class ArtifactContentResponse(ArtifactResponse):
    """An artifact with its content, as text if it is UTF-8."""

    content = serializers.CharField()
    encoding = serializers.ChoiceField(ENCODINGS)

    def to_representation(self, instance: EvolutionArtifact) -> Any:
        """Render the content as text if it is UTF-8, else as base64."""
        text, encoding = contents.encode(bytes(instance.content))
        return {**ArtifactResponse(instance).data, "content": text, "encoding": encoding}


ArtifactList = paged_listing(ArtifactResponse)


class EvidenceRequest(StrictSerializer):
    """The body of POST /v1/evolution/evidence."""

    artifactId = StrictStringField(max_length=64)
    kind = KindField()
    payload = serializers.DictField(help_text="At most 16 KiB of JSON.")

    def validate_payload(self, value: dict[str, Any]) -> dict[str, Any]:
        return _bounded(value)


class EvidenceResponse(serializers.Serializer[Any]):
    """A piece of evidence."""

    evidenceId = serializers.CharField(source="id")
    artifactId = serializers.CharField(source="artifact_id")
    kind = serializers.CharField()
    payload = serializers.DictField()
    createdAt = serializers.DateTimeField(source="created_at")


EvidenceList = paged_listing(EvidenceResponse)


class RevisionRequest(StrictSerializer):
    """The body of PUT /v1/evolution/active-revision."""

    artifactId = StrictStringField(max_length=64)
    expectedRevision = StrictIntegerField(min_value=0, max_value=REVISION_MAX)


class RevisionResponse(serializers.Serializer[Any]):
    """The active revision; before the first activation, revision 0 without an artifact."""

    revision = serializers.IntegerField()
    artifactId = serializers.CharField(source="artifact_id", allow_null=True)
    activatedAt = serializers.DateTimeField(source="activated_at", allow_null=True)


class ActiveRevisionResponse(RevisionResponse):
    """The active revision, and a page of those before it, newest first; `hasMore` tells whether there are older
    ones.
    """

    history = RevisionResponse(many=True)
    hasMore = serializers.BooleanField()
