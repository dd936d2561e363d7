"""Decision judgements: questions, typed answers, backends and fallback."""
