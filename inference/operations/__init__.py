"""Operations on the inference app's records."""
