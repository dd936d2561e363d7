"""The upstream's events: counted, and rewritten for the client."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.contract.errors import UpstreamInvalid
from inference.interface.upstream import StreamBroken
from inference.routes.realtime.allowance import CeilingReached, ResponseInProgress
from inference.routes.realtime.audio import bytes_of_base64
from inference.routes.realtime.client_events import ClientEvents
from inference.routes.realtime.items import tokens_of_settings
from inference.routes.realtime.service_events import redacted_error, usage_event
from inference.routes.realtime.settings import OPENING
from inference.routes.realtime.state import State
from inference.routes.realtime.usage import read_response_usage, read_transcription_usage
from inference.rules.usage import MissingUsage

Event = dict[str, Any]

_AUDIO = frozenset({"response.output_audio.delta", "response.audio.delta"})
_UNDONE = frozenset({"cancelled", "failed"})
"""A response with such a status, without usage and without delivered output, cost nothing. Any other may have."""

_TRANSCRIBED = "conversation.item.input_audio_transcription."


@dataclass(slots=True)
class Reaction:
    """The reaction to an upstream's event. `is_forwarded`: it is forwarded with the gateway's ids. Then `to_client` is sent.
    `is_news`: the session's cost has changed. `is_spent`: the hold is used up, or does not cover a response that is due."""

    is_forwarded: bool = True
    to_client: list[Event] = field(default_factory=list)
    to_upstream: list[Event] = field(default_factory=list)
    is_news: bool = False
    is_spent: bool = False


_FORWARDED = Reaction()


class UpstreamEvents:
    """Reads the events of one session's upstream."""

    def __init__(self, state: State, client: ClientEvents) -> None:
        self._state = state
        self._client = client
        self._opening: str | None = None
        self._spoken: set[str] = set()
        self._transcribed: set[str] = set()
        self._readers: Mapping[str, Callable[[Event], Reaction | None]] = {
            "session.created": self._session,
            "session.updated": self._updated,
            "response.created": self._created,
            "response.done": self._done,
            "input_audio_buffer.speech_stopped": self._stopped,
            "input_audio_buffer.committed": self._committed,
            "input_audio_buffer.cleared": self._cleared,
            f"{_TRANSCRIBED}completed": self._transcription,
            f"{_TRANSCRIBED}failed": self._untranscribed,
            "rate_limits.updated": self._hidden,
            "error": self._error,
        }

    def opening(self) -> Event:
        """Return the first event to send upstream."""
        self._opening = self._state.questions.add(None, is_ours=True)
        return {"type": "session.update", "event_id": self._opening, "session": OPENING}

    def read(self, event: Event) -> Reaction:
        """Count an event and return the reaction. Raises StreamBroken if its usage is invalid."""
        kind = event.get("type")
        if not isinstance(kind, str):
            raise StreamBroken(UpstreamInvalid(private="an event without a type"), "malformed")
        reader = self._readers.get(kind)
        if reader is not None:
            return reader(event) or _FORWARDED
        if kind.endswith(".delta"):
            self._delta(kind, event)
        return _FORWARDED

    def _session(self, event: Event, *, is_update: bool = False) -> Reaction:
        session = event.get("session")
        if not isinstance(session, dict):
            raise StreamBroken(UpstreamInvalid(private="a session that is not an object"), "malformed")
        self._state.allowance.described(tokens_of_settings(session), is_update=is_update)
        return self._instead({**event, "session": self._state.settings.shown(session, self._state.id)})

    def _updated(self, event: Event) -> Reaction:
        reaction = self._session(event, is_update=self._opening is None)
        if self._opening is None:
            return reaction
        self._state.questions.refused(self._opening)
        self._opening = None
        return Reaction(is_forwarded=False)

    def _created(self, event: Event) -> Reaction | None:
        response_id = _id_of(event)
        questions, allowance = self._state.questions, self._state.allowance
        if response_id in questions.running or response_id in questions.done:
            return None
        pending = questions.oldest()
        self._state.tally.begin(response_id)
        if pending is not None:
            questions.running[response_id] = pending.requested
            return None
        try:  # it was not requested: the upstream ignores the settings
            questions.running[response_id] = allowance.ask(None, extra_tokens=0, is_plain=True)
        except (CeilingReached, ResponseInProgress):
            questions.running[response_id] = None
            return Reaction(to_upstream=[{"type": "response.cancel", "response_id": response_id}])
        return None

    def _done(self, event: Event) -> Reaction:
        response_id, response = _id_of(event), event["response"]
        questions = self._state.questions
        if response_id in questions.done:
            return Reaction(is_forwarded=False)
        questions.done.add(response_id)
        if response_id not in questions.running and (pending := questions.oldest()):
            questions.running[response_id] = pending.requested
        requested = questions.running.pop(response_id, None)
        used = self._reported(response.get("usage"), read_response_usage)
        if used is None and response.get("status") not in _UNDONE:
            self._state.tally.is_whole = False
        _count(self._state.tally.end, response_id, used)
        self._state.allowance.done(requested, used)
        reaction = self._instead({**event, "response": _for_client(response)})
        reaction.to_client.append(self._usage_event())
        reaction.is_news, reaction.is_spent = True, self._state.allowance.is_used_up
        return reaction

    def _stopped(self, event: Event) -> None:
        self._spoken.add(str(event.get("item_id")))

    def _committed(self, event: Event) -> Reaction | None:
        item_id, settings = str(event.get("item_id")), self._state.settings
        self._state.allowance.commit(item_id, transcribed=settings.transcribes, prompt_tokens=settings.prompt_tokens)
        if item_id not in self._spoken:
            return None
        self._spoken.discard(item_id)
        if not settings.creates_responses:
            return None
        try:
            return Reaction(to_upstream=[self._client.answer_speech()])
        except ResponseInProgress:
            return None
        except CeilingReached:
            return Reaction(is_spent=True)

    def _cleared(self, event: Event) -> None:
        self._state.allowance.clear()

    def _transcription(self, event: Event) -> Reaction | None:
        item_id = str(event.get("item_id"))
        self._state.allowance.transcribing.pop(item_id, None)
        part = f"{item_id} {event.get('content_index')}"
        if part in self._transcribed:
            return None
        self._transcribed.add(part)
        used = self._reported(event.get("usage"), read_transcription_usage)
        if used is None:
            self._state.tally.is_whole = False
            return None
        _count(self._state.tally.report, used)
        return Reaction(to_client=[self._usage_event()], is_news=True, is_spent=self._state.allowance.is_used_up)

    def _untranscribed(self, event: Event) -> Reaction:
        self._state.allowance.transcribing.pop(str(event.get("item_id")), None)
        return self._instead({**event, "error": redacted_error(event.get("error"))})

    def _hidden(self, event: Event) -> Reaction:
        return Reaction(is_forwarded=False)

    def _error(self, event: Event) -> Reaction:
        error = event.get("error")
        named = error.get("event_id") if isinstance(error, Mapping) else None
        if named is not None and named == self._opening:
            self._opening = None
        pending = self._state.questions.refused(named)
        if pending is not None and pending.requested is not None:
            self._state.allowance.requested.remove(pending.requested)
        if pending is not None and pending.is_ours:
            return Reaction(is_forwarded=False)
        shown = redacted_error(error) | {
            "event_id": pending.event_id if pending else self._state.ids.client_event(named)
        }
        return self._instead({"type": "error", "error": shown})

    def _delta(self, kind: str, event: Event) -> None:
        delta, response_id = event.get("delta"), event.get("response_id")
        response = self._state.tally.open.get(response_id) if isinstance(response_id, str) else None
        if response is None or not isinstance(delta, str):
            return
        if kind in _AUDIO:
            response.add_audio(bytes_of_base64(len(delta)), self._state.settings.output_format)
        else:
            response.add_text(delta)

    def _reported(self, usage: Any, read: Callable[[Mapping[str, Any]], Quantities]) -> Quantities | None:
        """Read a usage object; None if it is missing although the price needs it."""
        if not self._state.bounded.price.prices.needs_token_usage and not usage:
            return Quantities()
        try:
            return read(usage) if isinstance(usage, Mapping) else None
        except MissingUsage:
            return None
        except MalformedUsage as error:
            raise _malformed(error) from error

    def _instead(self, event: Event) -> Reaction:
        """Forward another event in place of the upstream's, with the gateway's ids."""
        return Reaction(is_forwarded=False, to_client=[self._state.ids.for_client(event)])

    def _usage_event(self) -> Event:
        state = self._state
        return usage_event(state.usage_id, state.allowance.spent_microusd, state.bounded.hold_microusd)


def _id_of(event: Event) -> str:
    response = event.get("response")
    response_id = response.get("id") if isinstance(response, dict) else None
    if not isinstance(response_id, str):
        raise StreamBroken(UpstreamInvalid(private="a response without an id"), "malformed")
    return response_id


def _for_client(response: Event) -> Event:
    details = response.get("status_details")
    if not isinstance(details, dict) or not details.get("error"):
        return response
    return {**response, "status_details": {**details, "error": redacted_error(details["error"])}}


def _count(add: Callable[..., None], *arguments: Any) -> None:
    try:
        add(*arguments)
    except MalformedUsage as error:
        raise _malformed(error) from error


def _malformed(error: MalformedUsage) -> StreamBroken:
    return StreamBroken(UpstreamInvalid(private=f"usage: {error}"), "usage_malformed")
