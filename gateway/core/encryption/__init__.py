"""Encrypts what is stored: model fields, and other bytes and text."""
