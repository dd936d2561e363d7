"""Operations that change records of the judgement app."""
