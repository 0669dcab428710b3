"""Mails and posts as texts: messages, what is not the message, bytes as they were meant, pages as they are seen."""
