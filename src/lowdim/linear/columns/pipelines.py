"""The order of scaling and selection in pipelines of scikit-learn."""

from __future__ import annotations

from typing import Any

from lowdim.linear.columns.column_selection import ColumnSelection


def refuse_variance_after_scaling(pipeline: Any, owner: str = "pipeline") -> None:
    """An error for a pipeline in which columns are chosen by their variance after all were given the same variance.

    Nested pipelines, unions and column transformers are looked into. Between the two steps there may be others that
    leave the variance of each column (nearly) as it is: selection of columns, imputation. A `VarianceThreshold` of 0
    removes only constant columns, which standardising does not change, and is allowed.

    Parameters
    ----------
    pipeline : estimator
        A pipeline; other estimators are not looked into.
    owner : str
        Name of the caller, for the message.

    Raises
    ------
    ValueError
        With the names of both steps.

    Examples
    --------
    >>> import lowdim
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> refuse_variance_after_scaling(make_pipeline(lowdim.ColumnSelection(5), StandardScaler()))
    >>> refuse_variance_after_scaling(make_pipeline(StandardScaler(), lowdim.ColumnSelection(5)))
    Traceback (most recent call last):
        ...
    ValueError: pipeline: a variance filter after standardising has nothing to choose from: filter first, then scale.
    Step 'columnselection' comes after step 'standardscaler'.
    """
    _scaled_by(pipeline, "", None, owner)


def _scaled_by(step: Any, name: str, before: str | None, owner: str) -> str | None:
    """The name of the step that gave the columns behind this one equal variances; None if they need not have them.

    `before` is the same for the columns that go into the step.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if step is None or (isinstance(step, str) and step == "passthrough"):
        return before
    if isinstance(step, Pipeline):
        for inner, part in step.steps:
            before = _scaled_by(part, inner, before, owner)
        return before
    if isinstance(step, (FeatureUnion, ColumnTransformer)):
        return _after_branches(step, before, owner)
    if before is not None and _filters_by_variance(step):
        raise ValueError(
            f"{owner}: a variance filter after standardising has nothing to choose from: filter first, then scale. "
            f"Step {name!r} comes after step {before!r}."
        )
    if _standardises(step):
        return name
    return before if _leaves_variances(step) else None


def _after_branches(step: Any, before: str | None, owner: str) -> str | None:
    """Columns of several branches have equal variances where those of every branch have."""
    listed = step.transformers if hasattr(step, "transformers") else step.transformer_list
    parts = [(part[0], part[1]) for part in listed if not (isinstance(part[1], str) and part[1] == "drop")]
    remainder = getattr(step, "remainder", "drop")
    parts += [] if isinstance(remainder, str) and remainder == "drop" else [("remainder", remainder)]
    found = [_scaled_by(part, name, before, owner) for name, part in parts]
    return None if not found or None in found else found[0]


def _filters_by_variance(step: Any) -> bool:
    from sklearn.feature_selection import VarianceThreshold

    if isinstance(step, ColumnSelection):
        return step.criterion == "variance"
    return isinstance(step, VarianceThreshold) and step.threshold > 0


def _standardises(step: Any) -> bool:
    """Whether all columns that vary have the same variance afterwards."""
    from sklearn import decomposition, preprocessing

    from lowdim.linear.ica import ICA
    from lowdim.linear.pca.pca import PCA
    from lowdim.linear.whitening import Whitening

    if isinstance(step, Whitening):
        return step.ridge == 0 and step.kind in ("pca", "zca")
    if isinstance(step, (PCA, decomposition.PCA, decomposition.IncrementalPCA)):
        return bool(step.whiten)
    if isinstance(step, decomposition.FastICA):
        return step.whiten == "unit-variance"
    if isinstance(step, preprocessing.StandardScaler):
        return bool(step.with_std)
    if isinstance(step, preprocessing.PowerTransformer):
        return bool(step.standardize)
    return isinstance(step, (ICA, preprocessing.QuantileTransformer))


def _leaves_variances(step: Any) -> bool:
    """Whether columns are only left out, or their missing cells filled."""
    from sklearn.feature_selection import SelectorMixin
    from sklearn.impute import KNNImputer, SimpleImputer

    return isinstance(step, (ColumnSelection, SelectorMixin, SimpleImputer, KNNImputer))
