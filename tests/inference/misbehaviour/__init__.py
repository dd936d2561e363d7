"""Whatever an upstream does, on every model route and in every form: the right status, the right money, and no leak.

`behaviours.py` has the ways to misbehave, each as bytes on a real socket, and what has to become of them. `rows` has a row for
each route at each kind of upstream. A test runs every behaviour against every form of every row, and fails where a mapped route has no row.

A route joins by one `Row` in `rows`:

- `name`, `path` and `route`, as prices name it; `body`, the honest request for an alias: a JSON object, or a `Form` where the route takes multipart
- `answer`, what an honest upstream answers: a JSON object, or bytes with their `media_type`; `is_handed_on` where the client gets
  the bytes as they come
- `usage`, the path to the upstream's usage in it, such as ("usage",), or None where nothing is charged by it
- `charge_microusd`, what the honest answer costs at `price`
- `events`, where it streams: the honest upstream's events, with the path to their usage in `stream_usage`, or None;
  `stream_members` ask for a stream, `ends_with_done` says that `[DONE]` is its end
- `fields` of the alias, `adapter` and `options` of the upstream, and `known`, the route that the upstream knows instead, where
  the call is translated; `alias` where a route needs more than an alias; `scopes` of the caller
- `told`, where the route has a reason to treat a behaviour in a way of its own, and `streamed`, where its streams have
- `calls`, how many calls upstream make one answer; each gets the same

Every member of an answer that names the upstream ought to hold one of `tests.support.upstream.LEAKS`, so that it is found if
it is passed on. `python -m tests.inference.misbehaviour --write` writes the table to docs/misbehaviour.md.
"""
