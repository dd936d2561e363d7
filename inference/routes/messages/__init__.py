"""Messages: `POST /v1/messages`, in the shape of the public Messages API."""
