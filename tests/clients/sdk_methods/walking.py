"""Finds the methods of an official SDK, and calls any of them with made-up arguments."""

import inspect
from collections.abc import Iterator
from typing import Any

OF_FILES = ("archive", "data", "file", "image", "recording", "video")
OF_LISTS = ("files", "input", "items", "messages", "tools")
# Methods of which one of several sets of arguments is needed, or arguments of a certain form.
PARTICULAR: dict[str, dict[str, Any]] = {
    "admin.organization.external_keys.create": {"external_id": "x", "kms_arn": "x", "role_arn": "x", "type": "x"},
    "audio.voices.create": {"audio_sample": b"x", "consent": "x"},
    "beta.agents.automations.create": {"expression": "x", "target": {}, "timezone": "x", "type": "x"},
    "beta.agents.environments.files.create": {"file_id": "x", "path": "x", "type": "x"},
    "beta.agents.sessions.stream": {"input": "x"},
    "uploads.upload_file_chunked": {"filename": "x", "bytes": 1},
}


def methods_of(client: Any) -> dict[str, Any]:
    """Return every method of the client's resources by its name, such as `chat.completions.create`."""
    return dict(_walk(client, "", type(client.models).__mro__[1]))


def made_up_call(name: str, method: Any) -> None:
    """Call a method with an argument for each parameter that it needs; open what it returns to be opened."""
    parameters = inspect.signature(method).parameters.values()
    needed = [one.name for one in parameters if one.default is one.empty and one.kind != one.VAR_KEYWORD]
    answer = method(**{parameter: _made_up(parameter) for parameter in needed} | PARTICULAR.get(name, {}))
    if hasattr(answer, "__enter__"):
        answer.__enter__()
    elif inspect.isgenerator(answer):
        next(answer)


def _made_up(parameter: str) -> Any:
    return b"x" if parameter in OF_FILES else [] if parameter in OF_LISTS else "x"


def _walk(owner: Any, prefix: str, resource: type) -> Iterator[tuple[str, Any]]:
    for name in dir(type(owner)):
        if name.startswith(("with_", "_")):
            continue
        member = getattr(owner, name, None)
        if isinstance(member, resource):
            yield from _walk(member, f"{prefix}{name}.", resource)
        elif prefix and inspect.ismethod(member):
            yield f"{prefix}{name}", member
