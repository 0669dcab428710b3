"""deciban; the underscore keeps this file from being taken for the library."""

from typing import Any

import deciban

NAME = "deciban"


def make(class_name: str, **kwargs: Any) -> Any:
    return getattr(deciban, class_name)(**kwargs)
