"""Our own protocol, as far as its calls have it in common: one revision over all calls of a request."""

from dataclasses import dataclass, field
from typing import Any

from gateway.core.contract.errors import ManifestMismatch
from inference.adapters import errors
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.representation.conversation import Conversation, ConversingEndpoint, Sent
from inference.adapters.representation.facts import Facts, read_dimensions, read_flag, read_revision
from inference.rules.upstream import Attempt, Outcome, Rejected

REVISION_CODES = frozenset({"revision_mismatch", "revision_not_found", "revision_unavailable", "unknown_revision"})


@dataclass
class Pinned:
    """A conversation whose calls carry the revision of its first answer, or the one that was asked for."""

    conversation: Conversation
    model: str
    revision: str | None
    is_large: bool
    facts: Facts | None = field(default=None)

    async def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send one call and check what its answer tells of itself. Raises NotJSONError for another revision."""
        pin = {} if self.revision is None else {"revision": self.revision}
        answer = await self.conversation.ask(path, {"model": self.model, **body, **pin}, is_large=self.is_large)
        self._learn(answer)
        usage = answer.get("usage")
        if not (usage is None or isinstance(usage, dict)):
            raise NotJSONError("usage is no object")
        self.conversation.count((usage or {}).get("input_tokens"))
        return answer

    def _learn(self, answer: dict[str, Any]) -> None:
        facts = Facts(read_revision(answer), read_dimensions(answer), read_flag(answer, "normalized"))
        if self.revision not in (None, facts.revision) or self.facts not in (None, facts):
            raise NotJSONError("another revision than the one that was asked for, or answered first")
        self.revision, self.facts = facts.revision, facts


class RepresentationEndpoint(ConversingEndpoint[Sent]):
    """A route of an upstream that speaks our protocol."""

    def pinned(self, attempt: Attempt[Sent], conversation: Conversation) -> Pinned:
        """Begin the calls of an attempt, at the revision that the request is bound to, where it is."""
        request = attempt.request
        return Pinned(conversation, attempt.model, request.representation.revision, request.is_large)

    def refused(self, attempt: Attempt[Sent], refusal: Refusal) -> Outcome:
        """Read a refusal; one of the revision that was asked for is a manifest that does not match."""
        error = errors.error_object(refusal.body)
        if attempt.request.representation.revision and error.get("code") in REVISION_CODES:
            return Rejected(ManifestMismatch(param="manifest_id", private=errors.describe(attempt, refusal)))
        return errors.outcome_of(attempt, refusal)
