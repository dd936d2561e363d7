"""The client's events: validated, bounded, and rebuilt, so that the upstream reads only what the hold covers."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.json.strict import dumps
from inference.routes.realtime.audio import bytes_of_base64, tokens_of
from inference.routes.realtime.items import tokens_of_item, tokens_of_settings
from inference.routes.realtime.settings import RESPONSE, check_tools, read_limit, refuse_settings
from inference.routes.realtime.state import State

Event = dict[str, Any]

EVENT_ID_MAX_CHARACTERS = 512


_TYPE, _AUDIO = rb'"type": ?"input_audio_buffer\.append"', rb'"audio": ?"([A-Za-z0-9+/]+={0,2})"'
_APPEND = re.compile(rb"\{(?:" + _TYPE + rb", ?" + _AUDIO + rb"|" + _AUDIO + rb", ?" + _TYPE + rb")\}")
"""Nearly every frame of a session. A match is unambiguous, so it can be forwarded unchanged."""


class ClientEvents:
    """Reads the events of one session's client. A refused event changes nothing."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._readers: Mapping[str, Callable[[Event], Event]] = {
            "session.update": self._update,
            "input_audio_buffer.append": self._append,
            "input_audio_buffer.commit": self._pass,
            "input_audio_buffer.clear": self._pass,
            "output_audio_buffer.clear": self._pass,
            "conversation.item.create": self._add_item,
            "conversation.item.delete": self._pass,
            "conversation.item.retrieve": self._pass,
            "conversation.item.truncate": self._pass,
            "response.create": self._create_response,
            "response.cancel": self._pass,
        }

    def is_audio(self, frame: bytes) -> bool:
        """Process a frame of plain audio and return True; return False for a frame to parse. Raises CeilingReached."""
        found = _APPEND.fullmatch(frame)
        if found is None:
            return False
        self._hear(found.end(found.lastindex or 0) - found.start(found.lastindex or 0))
        return True

    def read(self, event: Event) -> Event:
        """Return the event to send upstream. Raises InvalidRequest, CeilingReached or ResponseInProgress."""
        kind = event.get("type")
        reader = self._readers.get(kind) if isinstance(kind, str) else None
        if reader is None:
            raise InvalidRequest("Events of this type are not supported.", param="type")
        client_id(event)
        return reader(self._state.ids.for_upstream(event))

    def answer_speech(self) -> Event:
        """Request the response to the client's speech, with its settings. Raises as `read`."""
        state = self._state
        requested = state.allowance.ask(
            state.settings.limit, extra_tokens=0, is_plain=True, transcribed=state.settings.may_transcribe
        )
        event_id = state.questions.add(requested, is_ours=True)
        return {
            "type": "response.create",
            "event_id": event_id,
            "response": {"max_output_tokens": requested.output_tokens},
        }

    def _pass(self, event: Event) -> Event:
        return event

    def _update(self, event: Event) -> Event:
        state = self._state
        session = state.settings.read(event.get("session"))
        state.allowance.describe(tokens_of_settings(session))
        return {**event, "session": session}

    def _append(self, event: Event) -> Event:
        audio = event.get("audio")
        if not isinstance(audio, str):
            raise InvalidRequest("audio must be base64.", param="audio")
        self._hear(len(audio))
        return event

    def _hear(self, characters: int) -> None:
        settings = self._state.settings
        tokens = tokens_of(bytes_of_base64(characters), settings.input_format)
        self._state.allowance.add_input_audio(
            tokens, transcribed=settings.may_transcribe, prompt_tokens=settings.prompt_tokens
        )

    def _add_item(self, event: Event) -> Event:
        self._state.allowance.grow(tokens_of_item(event.get("item"), self._state.settings.input_format, "item"))
        return event

    def _create_response(self, event: Event) -> Event:
        state = self._state
        response = event.get("response")
        response = {} if response is None else response
        if not isinstance(response, dict):
            raise InvalidRequest("response must be an object.", param="response")
        refuse_settings(response, RESPONSE, "response")
        check_tools(response, "response")
        wish = read_limit(response, "response") if "max_output_tokens" in response else state.settings.limit
        is_plain = "input" not in response and response.get("conversation") in (None, "auto")
        requested = state.allowance.ask(
            wish,
            extra_tokens=self._tokens_of(response),
            is_plain=is_plain,
            transcribed=state.settings.may_transcribe,
        )
        event_id = state.questions.add(requested, client_id(event))
        return {**event, "event_id": event_id, "response": {**response, "max_output_tokens": requested.output_tokens}}

    def _tokens_of(self, response: Event) -> int:
        """Return the maximum tokens of a response's own settings and items."""
        items = response.get("input")
        if items is None:
            items = []
        if not isinstance(items, list):
            raise InvalidRequest("input must be a list.", param="response.input")
        kind = self._state.settings.input_format
        described = len(dumps({name: value for name, value in response.items() if name != "input"}))
        return described + sum(
            tokens_of_item(item, kind, f"response.input.{index}") for index, item in enumerate(items)
        )


def client_id(event: Event) -> str | None:
    """Return the client's own id of an event, or raise InvalidRequest."""
    event_id = event.get("event_id")
    if event_id is not None and not (isinstance(event_id, str) and len(event_id) <= EVENT_ID_MAX_CHARACTERS):
        message = f"event_id must be a string of at most {EVENT_ID_MAX_CHARACTERS} characters."
        raise InvalidRequest(message, param="event_id")
    return event_id
