"""GET /v1/realtime: a realtime session with a model, over a WebSocket."""
