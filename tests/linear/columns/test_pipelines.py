"""Selection and scaling in pipelines: no leak of labels, and the right order."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA as SklearnPCA
from sklearn.decomposition import FastICA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, QuantileTransformer, StandardScaler

from lowdim import ICA, PCA, ColumnSelection, MinMax, Whitening
from lowdim.linear.columns.pipelines import refuse_variance_after_scaling

# ---- leaks ------------------------------------------------------------------------------------------------------


def noise(seed, columns):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((40, columns)), rng.permutation(np.arange(40) % 2)


@pytest.mark.parametrize(
    ("criterion", "columns", "classifier"),
    [
        ("rfe", 60, LogisticRegression()),
        ("forest-importance", 300, ExtraTreesClassifier(20, random_state=0)),
    ],
    ids=["rfe", "forest-importance"],
)
def test_selection_inside_cross_validation_learns_nothing_from_noise(criterion, columns, classifier):
    """Noise and random labels: the accuracy is that of chance, unless columns were chosen by the labels of all rows."""
    honest, leaking = [], []
    for seed in range(3):
        X, y = noise(seed, columns)
        chosen = ColumnSelection(8, criterion=criterion, step=15, n_trees=30, random_state=0)
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        honest.append(cross_val_score(make_pipeline(chosen, MinMax(), classifier), X, y, cv=folds).mean())
        leaking.append(cross_val_score(classifier, chosen.fit_transform(X, y), y, cv=folds).mean())
    # 120 rows are tested: the standard deviation of chance is 0.05.
    assert abs(np.mean(honest) - 0.5) < 0.13
    assert np.mean(leaking) > 0.68


@pytest.mark.parametrize("criterion", ["mutual-information", "rfe", "forest-importance"])
def test_labels_of_tested_rows_do_not_choose(criterion):
    """The choice of a fold is that of its training rows, and stays when the labels of the other rows change."""
    X, y = noise(0, 9)
    steps = make_pipeline(
        ColumnSelection(4, criterion=criterion, n_trees=10, random_state=0), MinMax(), LogisticRegression()
    )
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    found = cross_validate(steps, X, y, cv=folds, return_estimator=True)["estimator"]
    splits = list(folds.split(X, y))
    for model, (train, test) in zip(found, splits, strict=True):
        turned = y.copy()
        turned[test] = 1 - turned[test]
        alone = clone(steps).fit(X[train], turned[train])
        np.testing.assert_array_equal(model[0].scores_, alone[0].scores_)
        np.testing.assert_array_equal(model[1].data_max_, X[train][:, model[0].selected_].max(axis=0))
        leaking = clone(steps[0]).fit(X, turned)
        assert (leaking.scores_ != model[0].scores_).any()


# ---- order ------------------------------------------------------------------------------------------------------

NOTHING = "a variance filter after standardising has nothing to choose from: filter first, then scale"

SCALERS = {
    "StandardScaler": StandardScaler(),
    "PowerTransformer": PowerTransformer(),
    "QuantileTransformer": QuantileTransformer(n_quantiles=20),
    "Whitening": Whitening(),
    "ZCA": Whitening(kind="zca"),
    "PCA": PCA(whiten=True),
    "scikit-learn's PCA": SklearnPCA(whiten=True),
    "ICA": ICA(random_state=0),
    "ICA by infomax": ICA(algorithm="infomax", random_state=0),
    "FastICA": FastICA(random_state=0),
}
FILTERS = {"VarianceThreshold": VarianceThreshold(0.5), "ColumnSelection": ColumnSelection(2)}


def rows():
    """Independent columns, none of them Gaussian, in different units."""
    return np.random.default_rng(0).laplace(size=(200, 4)) * [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("chooser", FILTERS)
def test_a_variance_filter_after_standardising_is_refused(scaler, chooser):
    wrong = Pipeline([("scale", SCALERS[scaler]), ("filter", FILTERS[chooser])])
    with pytest.raises(ValueError, match=f"compare: {NOTHING}. Step 'filter' comes after step 'scale'"):
        refuse_variance_after_scaling(wrong, "compare")
    refuse_variance_after_scaling(Pipeline([("filter", FILTERS[chooser]), ("scale", SCALERS[scaler])]))


@pytest.mark.parametrize("scaler", SCALERS)
def test_the_steps_in_the_list_do_give_equal_variances(scaler):
    variances = SCALERS[scaler].fit_transform(rows()).var(axis=0)
    # Quantiles are interpolated, so that the variances of their normal scores agree only nearly.
    assert np.ptp(variances) < (0.05 if scaler == "QuantileTransformer" else 1e-3) * variances.max()


ALLOWED = {
    "other criteria": make_pipeline(StandardScaler(), ColumnSelection(2, criterion="rfe")),
    "removal of constant columns": make_pipeline(StandardScaler(), VarianceThreshold()),
    "centring alone": make_pipeline(StandardScaler(with_std=False), ColumnSelection(2)),
    "principal components": make_pipeline(StandardScaler(), PCA(), ColumnSelection(2)),
    "min-max scaling": make_pipeline(MinMaxScaler(), MinMax(), ColumnSelection(2)),
    "whitening with a ridge": make_pipeline(Whitening(ridge=1.0), ColumnSelection(2)),
    "an estimator": ColumnSelection(2),
    "two branches": FeatureUnion([("scaled", StandardScaler()), ("filtered", ColumnSelection(2))]),
    "one branch scaled": make_pipeline(
        FeatureUnion([("scaled", StandardScaler()), ("plain", "passthrough")]), ColumnSelection(2)
    ),
    "some columns scaled": make_pipeline(
        ColumnTransformer([("scaled", StandardScaler(), [0])], remainder="passthrough"), ColumnSelection(2)
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_other_orders_are_allowed_and_run(name):
    refuse_variance_after_scaling(ALLOWED[name])
    ALLOWED[name].fit(rows(), np.arange(200) % 2)


REFUSED = {
    "steps between that keep variances": make_pipeline(
        StandardScaler(), SimpleImputer(), SelectKBest(k=3), "passthrough", ColumnSelection(2)
    ),
    "after min-max scaling": make_pipeline(MinMax(), StandardScaler(), ColumnSelection(2)),
    "nested before": make_pipeline(make_pipeline(PCA(), StandardScaler()), ColumnSelection(2)),
    "nested after": make_pipeline(StandardScaler(), make_pipeline(ColumnSelection(2), PCA())),
    "inside a branch": FeatureUnion([("a", make_pipeline(StandardScaler(), ColumnSelection(2))), ("b", PCA())]),
    "all branches scaled": make_pipeline(
        FeatureUnion([("a", StandardScaler()), ("b", Whitening()), ("c", "drop")]), ColumnSelection(2)
    ),
    "all columns scaled": make_pipeline(
        ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", StandardScaler(), [2])]), ColumnSelection(2)
    ),
    "scaled before the branches": make_pipeline(
        StandardScaler(), ColumnTransformer([("a", ColumnSelection(1), [0, 1])], remainder="passthrough")
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hidden_orders_are_found(name):
    with pytest.raises(ValueError, match=f"pipeline: {NOTHING}"):
        refuse_variance_after_scaling(REFUSED[name])
