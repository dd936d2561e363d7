"""Operations that change organizations; each is one transaction."""
