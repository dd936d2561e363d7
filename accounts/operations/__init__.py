"""Operations that change accounts' records."""
