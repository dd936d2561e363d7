"""A session's settings: which pass upstream, which are bounded, which are refused, and which the gateway stores.

The gateway starts every response itself, so that each is covered by the hold before it begins: a pause in the speech
does not start one upstream. The client's settings, as it sees them, are stored here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.json.strict import dumps
from inference.routes.realtime.audio import DEFAULT_FORMAT, most_tokens_format, read_format
from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment, refuse_members

TRANSCRIPTION_MODELS = frozenset({"whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"})
TRANSCRIPTION_MAX_BYTES = 1024
"""The transcription settings include a prompt, which the model reads with every turn."""
UNLIMITED = "inf"


def _refused(reason: str, *names: str) -> dict[str, Member]:
    return {name: Member(Treatment.REFUSED, reason) for name in names}


SHARED: Mapping[str, Member] = {
    **{name: member for name, member in REFUSED_EVERYWHERE.items() if name != "audio"},
    **_refused("It would run what the operator has stored at the provider.", "prompt"),
    **_refused("This is a member of the interface's first version.", "max_response_output_tokens"),
    "max_output_tokens": Member(
        Treatment.BOUNDED, "The hold pays for it; the gateway sets the limit of each response."
    ),
    "tools": Member(Treatment.BOUNDED, "Functions only: tools that the provider runs have no price."),
}
"""Settings of both a session and a single response."""

SESSION: Mapping[str, Member] = {
    **SHARED,
    **_refused(
        "This is a member of the interface's first version; it belongs into `audio`.",
        "input_audio_format",
        "input_audio_transcription",
        "output_audio_format",
        "turn_detection",
    ),
    **_refused("Nothing is stored at the model's provider.", "tracing"),
    **_refused("A session belongs to the caller that opened it.", "client_secret", "expires_after"),
}
RESPONSE: Mapping[str, Member] = {**SHARED, **_refused("A session has one model.", "model")}
TURN_DETECTION = _refused("It would start responses that were not requested.", "idle_timeout_ms")


@dataclass(slots=True)
class Settings:
    """The settings of a session that affect its cost. `model` is the alias, `prompt_tokens` the maximum that the
    transcription settings add to each transcription. `transcribes` is the client's latest setting.

    The upstream may refuse the client's settings and continue with the old ones. So `input_format` is the most
    expensive one ever set, `may_transcribe` stays true once set, and `prompt_tokens` never decreases.
    """

    model: str
    limit: int | None = None
    input_format: str = DEFAULT_FORMAT
    output_format: str = DEFAULT_FORMAT
    creates_responses: bool = True
    transcribes: bool = False
    may_transcribe: bool = False
    prompt_tokens: int = 0

    def read(self, session: Any) -> dict[str, Any]:
        """Validate and store the client's settings, and return those for the upstream. Raises InvalidRequest without
        storing any."""
        sent = _object(session, "session")
        _under("session", refuse_members, sent, SESSION)
        if sent.get("type") not in (None, "realtime"):
            raise InvalidRequest("The session's type must be realtime.", param="session.type")
        if sent.get("model") not in (None, self.model):
            raise InvalidRequest("A session's model cannot be changed.", param="session.model")
        check_tools(sent, "session")
        limit = read_limit(sent, "session") if "max_output_tokens" in sent else self.limit
        passed = {n: v for n, v in sent.items() if n not in ("model", "max_output_tokens")} | {"type": "realtime"}
        if sent.get("audio") is not None:
            passed["audio"] = self._read_audio(_object(sent["audio"], "session.audio"))
        self.limit = limit
        return passed

    def _read_audio(self, audio: dict[str, Any]) -> dict[str, Any]:
        input_audio, spoken = (_object(audio.get(name) or {}, f"session.audio.{name}") for name in ("input", "output"))
        kinds = self.input_format, self.output_format
        if input_audio.get("format") is not None:
            kinds = (
                most_tokens_format(kinds[0], read_format(input_audio["format"], "session.audio.input.format")),
                kinds[1],
            )
        if spoken.get("format") is not None:
            kinds = kinds[0], read_format(spoken["format"], "session.audio.output.format")
        _check_transcription(input_audio.get("transcription"))
        creates = self.creates_responses
        if input_audio.get("turn_detection") is not None:
            input_audio, creates = _without_responses(input_audio)
        elif "turn_detection" in input_audio:
            creates = False
        if "transcription" in input_audio:
            self._set_transcription(input_audio["transcription"])
        (self.input_format, self.output_format), self.creates_responses = kinds, creates
        return {**audio, "input": input_audio} if "input" in audio else audio

    def _set_transcription(self, transcription: Any) -> None:
        self.transcribes = bool(transcription)
        if self.transcribes:
            self.may_transcribe = True
            self.prompt_tokens = max(self.prompt_tokens, len(dumps(transcription)))

    def shown(self, session: dict[str, Any], session_id: str) -> dict[str, Any]:
        """Return the upstream's session as the client may see it."""
        shown = {**session, "model": self.model}
        if "id" in shown:
            shown["id"] = session_id
        if "max_output_tokens" in shown:
            shown["max_output_tokens"] = self.limit or UNLIMITED
        audio = shown.get("audio")
        input_audio = audio.get("input") if isinstance(audio, dict) else None
        turns = input_audio.get("turn_detection") if isinstance(input_audio, dict) else None
        if isinstance(audio, dict) and isinstance(input_audio, dict) and isinstance(turns, dict):
            input_audio = {**input_audio, "turn_detection": {**turns, "create_response": self.creates_responses}}
            shown["audio"] = {**audio, "input": input_audio}
        return shown


OPENING: dict[str, Any] = {
    "type": "realtime",
    "audio": {"input": {"turn_detection": {"type": "server_vad", "create_response": False}}},
}
"""The initial settings: the vendor's defaults, without automatic responses, which the hold would not cover."""


def read_limit(settings: Mapping[str, Any], path: str) -> int | None:
    """Read `max_output_tokens`: a whole number, or None for "inf". Raises InvalidRequest."""
    value = settings.get("max_output_tokens")
    if value is None or value == UNLIMITED:
        return None
    if type(value) is not int or value < 1:
        message = 'max_output_tokens must be a whole number from 1 on, or "inf".'
        raise InvalidRequest(message, param=f"{path}.max_output_tokens")
    return value


def check_tools(settings: Mapping[str, Any], path: str) -> None:
    """Raise InvalidRequest for a tool that is not a function."""
    tools = settings.get("tools")
    if tools is not None and not isinstance(tools, list):
        raise InvalidRequest("tools must be a list.", param=f"{path}.tools")
    for index, tool in enumerate(tools or ()):
        if not isinstance(tool, dict) or tool.get("type") != "function":
            raise InvalidRequest("Only tools of type function are supported.", param=f"{path}.tools.{index}.type")


def refuse_settings(settings: Mapping[str, Any], table: Mapping[str, Member], path: str) -> None:
    """Raise InvalidRequest naming the first member that a table refuses."""
    _under(path, refuse_members, settings, table)


def _without_responses(input_audio: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the input settings with a turn detection that starts no response, and whether the client wants one."""
    path = "session.audio.input.turn_detection"
    turns = _object(input_audio["turn_detection"], path)
    _under(path, refuse_members, turns, TURN_DETECTION)
    creates = turns.get("create_response", True)
    if not isinstance(creates, bool):
        raise InvalidRequest("create_response must be true or false.", param=f"{path}.create_response")
    return {**input_audio, "turn_detection": {**turns, "create_response": False}}, creates


def _check_transcription(transcription: Any) -> None:
    if transcription is None:
        return
    path = "session.audio.input.transcription"
    model = _object(transcription, path).get("model")
    if model not in (None, *sorted(TRANSCRIPTION_MODELS)):
        message = f"The model must be one of {', '.join(sorted(TRANSCRIPTION_MODELS))}."
        raise InvalidRequest(message, param=f"{path}.model")
    if len(dumps(transcription)) > TRANSCRIPTION_MAX_BYTES:
        message = f"The transcription's settings may have {TRANSCRIPTION_MAX_BYTES} bytes."
        raise InvalidRequest(message, param=f"{path}.prompt")


def _object(value: Any, param: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidRequest(f"{param} must be an object.", param=param)
    return value


def _under(path: str, check: Any, *arguments: Any) -> None:
    """Run a check, and prefix the member in its error with the path."""
    try:
        check(*arguments)
    except InvalidRequest as error:
        raise InvalidRequest(error.message, param=f"{path}.{error.param}") from None
