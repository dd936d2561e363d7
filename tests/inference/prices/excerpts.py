"""Excerpts of published catalogues, in their publishers' forms, with prices as they were published."""

LITELLM = b"""{
  "sample_spec": {"input_cost_per_token": 0.0, "litellm_provider": "one of https://docs.litellm.ai/docs/providers",
    "max_tokens": "LEGACY parameter.", "output_cost_per_token": 0.0},
  "gpt-5": {"cache_read_input_token_cost": 1.25e-07, "cache_read_input_token_cost_flex": 6.25e-08,
    "cache_read_input_token_cost_priority": 2.5e-07, "input_cost_per_token": 1.25e-06, "input_cost_per_token_flex": 6.25e-07,
    "input_cost_per_token_priority": 2.5e-06, "litellm_provider": "openai", "max_input_tokens": 272000, "mode": "chat",
    "output_cost_per_token": 1e-05, "output_cost_per_token_flex": 5e-06, "output_cost_per_token_priority": 2e-05,
    "supports_vision": true},
  "azure/gpt-5": {"cache_read_input_token_cost": 1.25e-07, "input_cost_per_token": 1.25e-06, "litellm_provider": "azure",
    "mode": "chat", "output_cost_per_token": 1e-05},
  "claude-sonnet-4-5": {"cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06,
    "cache_creation_input_token_cost_above_200k_tokens": 7.5e-06, "cache_read_input_token_cost": 3e-07,
    "cache_read_input_token_cost_above_200k_tokens": 6e-07, "input_cost_per_token": 3e-06,
    "input_cost_per_token_above_200k_tokens": 6e-06, "litellm_provider": "anthropic", "mode": "chat",
    "output_cost_per_token": 1.5e-05, "output_cost_per_token_above_200k_tokens": 2.25e-05,
    "search_context_cost_per_query": {"search_context_size_high": 0.01}, "tool_use_system_prompt_tokens": 346},
  "text-embedding-3-small": {"input_cost_per_token": 2e-08, "input_cost_per_token_batches": 1e-08, "litellm_provider": "openai",
    "mode": "embedding", "output_cost_per_token": 0.0, "output_vector_size": 1536},
  "whisper-1": {"input_cost_per_second": 0.0001, "litellm_provider": "openai", "mode": "audio_transcription",
    "output_cost_per_second": 0.0001},
  "tts-1": {"input_cost_per_character": 1.5e-05, "litellm_provider": "openai", "mode": "audio_speech"},
  "aiml/dall-e-3": {"litellm_provider": "aiml", "mode": "image_generation", "output_cost_per_image": 0.052},
  "gpt-4o-audio-preview": {"input_cost_per_audio_token": 0.0001, "input_cost_per_token": 2.5e-06, "litellm_provider": "openai",
    "mode": "chat", "output_cost_per_audio_token": 0.0002, "output_cost_per_token": 1e-05},
  "amazon.nova-2-pro-preview-20251202-v1:0": {"cache_read_input_token_cost": 5.46875e-07, "input_cost_per_token": 2.1875e-06,
    "litellm_provider": "bedrock_converse", "mode": "chat", "output_cost_per_token": 1.75e-05}
}"""

MODELS_DEV = b"""{
  "google": {"id": "google", "npm": "@ai-sdk/google", "models": {
    "gemini-2.5-pro": {"id": "gemini-2.5-pro", "cost": {"input": 1.25, "output": 10, "cache_read": 0.31,
      "context_over_200k": {"input": 2.5, "output": 15, "cache_read": 0.625}}},
    "gemini-2.5-flash": {"id": "gemini-2.5-flash", "cost": {"input": 0.3, "output": 2.5, "cache_read": 0.075,
      "input_audio": 1}},
    "gemma-free": {"id": "gemma-free", "name": "Gemma"}}},
  "hpc-ai": {"id": "hpc-ai", "models": {
    "openai/gpt-5.5": {"id": "openai/gpt-5.5", "cost": {"input": 5, "output": 30, "cache_read": 0.5,
      "tiers": [{"input": 10, "output": 45, "cache_read": 1, "tier": {"type": "context", "size": 272000}}],
      "context_over_200k": {"input": 10, "output": 45, "cache_read": 1}}}}}
}"""

OPENROUTER = b"""{"data": [
  {"id": "google/gemini-2.5-pro", "context_length": 1048576, "pricing": {"prompt": "0.00000125", "completion": "0.00001",
    "image": "0.00516", "request": "0", "web_search": "0", "internal_reasoning": "0.00001", "input_cache_read": "0.00000031",
    "input_cache_write": "0.000001625", "audio": "0.00000125",
    "overrides": [{"min_prompt_tokens": 200001, "prompt": "0.0000025", "completion": "0.000015"}]}},
  {"id": "anthropic/claude-sonnet-4.5", "pricing": {"prompt": "0.000003", "completion": "0.000015",
    "input_cache_read": "0.0000003", "input_cache_write": "0.00000375", "input_cache_write_1h": "0.000006"}},
  {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
  {"id": "openai/gpt-oss-20b:free", "pricing": {"prompt": "0", "completion": "0", "request": "0", "image": "0"}}
]}"""

TOGETHER = b"""[
  {"id": "meta-llama/Llama-3.3-70B-Instruct-Turbo", "object": "model", "type": "chat",
    "pricing": {"hourly": 0, "input": 0.88, "output": 0.88, "base": 0, "finetune": 0}},
  {"id": "moonshotai/Kimi-K2.5", "type": "chat", "pricing": {"hourly": 0, "input": 0.5, "output": 2.8, "cached_input": 0.25}}
]"""

DEEPINFRA = b"""{"object": "list", "data": [
  {"id": "openai/gpt-oss-120b", "object": "model", "owned_by": "deepinfra", "metadata": {"context_length": 131072,
    "pricing": {"input_tokens": 0.039, "output_tokens": 0.19}}},
  {"id": "deepseek-ai/DeepSeek-V3-0324", "metadata": {"pricing": {"input_tokens": 0.24, "output_tokens": 0.9,
    "cache_read_tokens": 0.135}}},
  {"id": "stabilityai/sd3.5", "metadata": {"pricing": {"per_image_unit": 0.06}}}
]}"""

GROQ = b"""{"object": "list", "data": [{"id": "openai/gpt-oss-120b", "object": "model", "owned_by": "OpenAI", "active": true,
  "context_window": 131072, "max_completion_tokens": 65536}]}"""
