"""An estimator made of estimators: their settings as its own, `name__setting`, and what input all of them take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from sklearn.utils import get_tags

from deciban.classifiers.members import Named, named


class Composed:
    """Mixin: needs `models`, and `models_` once fitted."""

    models: Any
    models_: list
    _usual: Callable[[], Any]  # the models where none are named
    __sklearn_is_fitted__: Callable[[], bool]

    def _pairs(self) -> Named:
        return named(self._usual() if self.models is None else self.models)

    def _listed(self) -> Named:
        """The models that were named, whatever else may be wrong with them."""
        return self._pairs() if isinstance(self.models, list | tuple | Mapping) else []

    def _current(self) -> list:
        """The models as they are, fitted or not."""
        return self.models_ if self.__sklearn_is_fitted__() else [model for _, model in self._pairs()]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; `deep`: with the models and theirs, as `name` and `name__setting`."""
        out = super().get_params(deep=False)  # type: ignore[misc]
        for name, model in self._listed() if deep else ():
            if hasattr(model, "get_params") and not isinstance(model, type):
                out[name] = model
                out.update({f"{name}__{key}": value for key, value in model.get_params(deep=True).items()})
        return out

    def set_params(self, **params: Any) -> Self:
        """Change settings: own ones, a model by its name, or a model's as `name__setting`."""
        if "models" in params:
            self.models = params.pop("models")
        names = [name for name, _ in self._listed()]
        replaced = {name: params.pop(name) for name in list(params) if name in names}
        if any(replaced[name] is not model for name, model in self._listed() if name in replaced):
            self.models = [(name, replaced.get(name, model)) for name, model in self._pairs()]
        return super().set_params(**params)  # type: ignore[misc]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        each = [get_tags(model) for model in self._current() if hasattr(model, "__sklearn_tags__")]
        for name in ("allow_nan", "sparse", "categorical", "string", "positive_only"):
            whole = any if name in ("positive_only", "allow_nan") else all  # who takes no gaps is not asked of them
            setattr(tags.input_tags, name, whole(getattr(one.input_tags, name) for one in each))
        tags.classifier_tags.multi_class = all(one.classifier_tags.multi_class for one in each if one.classifier_tags)
        return tags
