"""Mails and posts as texts: parsing of messages, removal of headers, quotes and footers, decoding, HTML."""
