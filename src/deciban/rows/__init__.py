"""Whatever the user has, as rows that can be passed over."""
