"""The server: uvicorn with limits on what a client can hold, and the ways from it to the views."""
