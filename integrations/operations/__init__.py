"""Operations that change integrations' records."""
