"""Settings that are looked up once a class."""

from __future__ import annotations

from functools import cache


class Settled:
    """Mixin: the constructor is read once a class; scikit-learn reads it in every fit, which small tables notice."""

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()  # type: ignore[misc]
