"""A proxy on this computer that signs for tools which only take a base URL and a key.

The server is uvicorn over h11, and the way to the gateway is httpx. Both are pure Python: httpx and h11 come with the
official SDKs anyway, and uvicorn adds nothing but itself. They speak HTTP so that this package does not have to: framing,
`Expect`, slow readers, HTTP/1.0, certificates and the system's proxies. `http.server` with a thread for each call would
have needed none of them, but a thread that waits for the gateway does not notice that its client has left, and the call
would go on at its payer's cost.
"""
