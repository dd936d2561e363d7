"""`POST /v1/audio/transcriptions`, and `/v1/audio/translations`, which differs only in its fields and its address."""
