"""Each setting and each pair of settings of each classifier: `fit` is `fit_on`, explanations are posteriors, files keep
everything, a refit leaves nothing, updates are fits; or an error names what does not go together."""

from __future__ import annotations

import pytest

from ..support.models import CLASSIFIERS
from ..support.settings import TABLE
from .pairs_known import KNOWN, NOT_PROMISED
from .pairs_laws import all_cases, failure, judged, laws_of, look_at, refused

EVERY = [(name, law) for name in TABLE for law in laws_of(name)]
OF_EXECUTION = {"n_jobs", "random_state", "verbose"}  # settings that do not change the model


@pytest.mark.parametrize(("name", "law"), EVERY, ids=[f"{name}-{law}" for name, law in EVERY])
def test_law_holds_for_each_pair_of_settings(name, law):
    cases = [case for case in judged(name, law) if not any(one.match(law, case) for one in NOT_PROMISED)]
    known = {case.key for case in cases if any(one.match(law, case, refused(case)) for one in KNOWN)}
    found = {case.key: wrong for case in cases if (wrong := failure(law, case))}
    lines = [f"{' + '.join(key) or 'no setting'}: {wrong}" for key, wrong in found.items() if key not in known]
    lines += [f"{' + '.join(key) or 'no setting'}: holds now; take it out of KNOWN" for key in known - found.keys()]
    assert not lines, f"{law} of {name}:\n" + "\n".join(sorted(lines))


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_every_setting_of_every_classifier_is_in_the_table(cls):
    entries = [entry for entry in TABLE.values() if entry.make is cls]
    assert entries, "no entry"
    listed = {name for entry in entries for name in (*entry.values, *entry.base)}
    assert cls().get_params(deep=False).keys() - listed - OF_EXECUTION == set()


@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_a_model_that_was_not_fitted_can_be_looked_at(cls):
    look_at(cls())


def test_every_exception_is_of_a_case():
    for one in (*KNOWN, *NOT_PROMISED):
        names = one.names or tuple(TABLE)
        cases = [case for name in names if one.law in laws_of(name) for case in all_cases(name)]
        assert any(one.match(one.law, case, one.refused) for case in cases), one
