"""The common part of the gateway's own protocol: all calls of a request use one revision."""

from dataclasses import dataclass, field
from typing import Any

from gateway.core.contract.errors import ManifestMismatch
from inference.adapters import errors
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.representation.answers import Facts, read_dimensions, read_flag, read_revision
from inference.adapters.representation.conversation import Conversation, ConversingEndpoint, Sent
from inference.interface.upstream import Attempt, Outcome, Rejected

REVISION_CODES = frozenset({"revision_mismatch", "revision_not_found", "revision_unavailable", "unknown_revision"})


@dataclass
class Pinned:
    """A conversation whose calls carry the requested revision, or else the one of its first answer."""

    conversation: Conversation
    model: str
    revision: str | None
    is_large: bool
    facts: Facts | None = field(default=None)

    async def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send one call and check the facts in its answer. Raises NotJSONError for a different revision."""
        pin = {} if self.revision is None else {"revision": self.revision}
        answer = await self.conversation.ask(path, {"model": self.model, **body, **pin}, is_large=self.is_large)
        self._learn(answer)
        usage = answer.get("usage")
        if not (usage is None or isinstance(usage, dict)):
            raise NotJSONError("usage is not an object")
        self.conversation.count((usage or {}).get("input_tokens"))
        return answer

    def _learn(self, answer: dict[str, Any]) -> None:
        facts = Facts(read_revision(answer), read_dimensions(answer), read_flag(answer, "normalized"))
        if self.revision not in (None, facts.revision) or self.facts not in (None, facts):
            raise NotJSONError("not the requested revision, or not the facts of the first answer")
        self.revision, self.facts = facts.revision, facts


class RepresentationEndpoint(ConversingEndpoint[Sent]):
    """A route of an upstream that uses the gateway's own protocol."""

    def pinned(self, attempt: Attempt[Sent], conversation: Conversation) -> Pinned:
        """Begin the calls of an attempt, at the revision that the request is bound to, if any."""
        request = attempt.request
        return Pinned(conversation, attempt.upstream_model, request.representation.revision, request.is_large)

    def refused(self, attempt: Attempt[Sent], refusal: Refusal) -> Outcome:
        """Return the outcome of a refusal. If the upstream refuses the requested revision, the manifest does not match."""
        error = errors.error_object(refusal.body)
        if attempt.request.representation.revision and error.get("code") in REVISION_CODES:
            error_of_ours = ManifestMismatch(param="manifest_id", private=errors.describe(attempt, refusal))
            return Rejected(error_of_ours, status=refusal.status)
        return errors.outcome_of(attempt, refusal)
