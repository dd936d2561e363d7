"""GET /v1/realtime: a live session with a model, over a WebSocket."""
