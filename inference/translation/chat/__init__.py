"""Chat completions: `POST /chat/completions`, its completions and its chunks."""
