"""`POST /v1/audio/transcriptions`, and `/v1/audio/translations`, which differs in its table of fields and its address."""
