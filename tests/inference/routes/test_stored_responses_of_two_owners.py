"""Whatever two owners do with their responses, in any order: each gets its own, and never a word of the other's."""

import itertools
from datetime import timedelta
from typing import Any, NamedTuple

from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from inference.models import StoredResponse
from inference.operations import stored_responses
from tests.inference.routes.test_response_streams import stream
from tests.inference.routes.test_responses import READ, cost_of, respond
from tests.support.stage import RESPONSES, Caller, Stage, ask

OWNERS = st.integers(0, 1)
ANY = st.integers(0, 10**6)


class StoredText(NamedTuple):
    """A response that ought to be there: whose it is, itself, and the texts that it answered."""

    owner: int
    response: dict[str, Any]
    texts: list[str]


class TwoOwners(RuleBasedStateMachine):
    """The model: what is stored, and what is not any more."""

    stage: Stage
    alias: str

    def __init__(self) -> None:
        super().__init__()
        self.callers: list[Caller] = [self.stage.caller(scopes=READ, balance=10_000_000) for _ in range(2)]
        self.charged = [0, 0]
        self.stored: dict[str, StoredText] = {}
        self.gone: list[str] = ["resp_nobodys"]
        self.words = itertools.count()

    def pick(self, number: int) -> str:
        """Choose an id that is known to somebody, there or gone."""
        ids = [*self.stored, *self.gone]
        return ids[number % len(ids)]

    def is_own(self, owner: int, response_id: str) -> bool:
        """Return whether this owner has such a response now."""
        return response_id in self.stored and self.stored[response_id].owner == owner

    def remember(self, owner: int, response: dict[str, Any], texts: list[str]) -> None:
        """Check the words and the money of a new response, and expect it to be there."""
        sent = self.stage.upstream.ledger.entries[-1].body["input"]
        sent_texts = [sent] if isinstance(sent, str) else [part["text"] for item in sent for part in item["content"]]
        assert sent_texts == texts
        assert response["usage"]["input_tokens"] == -(-sum(len(text.encode()) for text in texts) // 4)
        self.charged[owner] += cost_of(response["usage"])
        if response["store"]:
            self.stored[response["id"]] = StoredText(owner, response, texts)
        else:
            self.gone.append(response["id"])

    @rule(owner=OWNERS, stores=st.booleans(), streams=st.booleans())
    def begin(self, owner: int, stores: bool, streams: bool) -> None:
        """Make a response to new words."""
        text = f"Owner {owner} says word {next(self.words)}"
        self.remember(owner, self.answered(owner, streams, input=text, store=stores), [text])

    @rule(owner=OWNERS, number=ANY, stores=st.booleans(), streams=st.booleans())
    def go_on(self, owner: int, number: int, stores: bool, streams: bool) -> None:
        """Continue from any response that was ever made."""
        previous, text = self.pick(number), f"Owner {owner} goes on {next(self.words)}"
        members = {"input": text, "store": stores, "previous_response_id": previous}
        if self.is_own(owner, previous):
            before = self.stored[previous]
            answer = before.response["output"][0]["content"][0]["text"]
            self.remember(owner, self.answered(owner, streams, **members), [*before.texts, answer, text])
        else:
            calls = len(self.stage.upstream.ledger)
            refused = respond(self.callers[owner], ask(self.alias, **members, stream=streams))
            assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_found")
            assert len(self.stage.upstream.ledger) == calls

    def answered(self, owner: int, streams: bool, **members: Any) -> dict[str, Any]:
        """Make a response either way."""
        body = ask(self.alias, **members)
        if streams:
            response: dict[str, Any] = stream(self.callers[owner], body)[0][-1]["response"]
            return response
        answer = respond(self.callers[owner], body)
        assert answer.status_code == 200, answer.text
        whole: dict[str, Any] = answer.json()
        return whole

    @rule(owner=OWNERS, number=ANY)
    def read(self, owner: int, number: int) -> None:
        """Read any response and its input."""
        wanted = self.pick(number)
        read = self.callers[owner].get(f"{RESPONSES}/{wanted}")
        items = self.callers[owner].get(f"{RESPONSES}/{wanted}/input_items?limit=100&order=asc")
        if self.is_own(owner, wanted):
            assert read.json() == self.stored[wanted].response
            assert [item["content"][0]["text"] for item in items.json()["data"]] == self.stored[wanted].texts
        else:
            assert (read.status_code, items.status_code) == (404, 404)
            assert "says word" not in read.text + items.text

    @rule(owner=OWNERS, number=ANY)
    def delete(self, owner: int, number: int) -> None:
        """Delete any response."""
        wanted = self.pick(number)
        own, answer = self.is_own(owner, wanted), self.callers[owner].delete(f"{RESPONSES}/{wanted}")
        assert answer.status_code == (200 if own else 404)
        if own:
            self.forget(wanted)

    @rule(number=ANY)
    def expire(self, number: int) -> None:
        """Make a response expire."""
        wanted = self.pick(number)
        StoredResponse.objects.filter(pk=wanted).update(expires_at=timezone.now() - timedelta(seconds=1))
        if wanted in self.stored:
            self.forget(wanted)

    @rule()
    def purge(self) -> None:
        """Run the job."""
        stored_responses.purge(now=timezone.now())
        assert not StoredResponse.objects.filter(pk__in=self.gone).exists()

    def forget(self, response_id: str) -> None:
        """Expect it to be gone for good."""
        del self.stored[response_id]
        self.gone.append(response_id)

    @invariant()
    def each_pays_for_what_was_answered_alone(self) -> None:
        """Compare both wallets."""
        for owner, caller in enumerate(self.callers):
            assert caller.wallet == {"balance": 10_000_000 - self.charged[owner], "held": 0, "debt": 0}

    @invariant()
    def there_is_no_row_but_theirs(self) -> None:
        """Compare the rows with the model."""
        for owner, caller in enumerate(self.callers):
            now = timezone.now()
            rows = StoredResponse.objects.filter(owner_key=caller.did, expires_at__gt=now).values_list("pk", flat=True)
            assert set(rows) == {response_id for response_id, stored in self.stored.items() if stored.owner == owner}


def test_stored_responses_of_two_owners(stage: Stage) -> None:
    TwoOwners.stage, TwoOwners.alias = stage, stage.model("small-1?tokens=5", max_output_tokens=30)
    bounds = settings(
        max_examples=12,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    run_state_machine_as_test(TwoOwners, settings=bounds)
