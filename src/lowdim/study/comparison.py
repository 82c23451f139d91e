"""The result of a comparison: embeddings of the same rows by several methods, with their scores.

Failures, warnings, parameters and times are kept next to the scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lowdim._core.runtime.printable import printable_lines
from lowdim.study.alignment import aligned_maps
from lowdim.study.columns import Column
from lowdim.study.columns.opening_colour import OpeningColour, opening_colour
from lowdim.study.columns.table_model import Treatment
from lowdim.study.data import model_of
from lowdim.study.data_copy import DataCopy
from lowdim.study.drawn import Drawn, can_place
from lowdim.study.json_values import plain
from lowdim.study.labels import Labels
from lowdim.study.notes import copies
from lowdim.study.reference_choice import ReferenceChoice
from lowdim.study.running.one_method import Outcome
from lowdim.study.scoring import Scored
from lowdim.study.verdict import Evidence, Verdict


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Embeddings of the same rows by several methods, and how faithful each one is.

    Made by :func:`lowdim.compare`. It names no best method for everything: ``verdict`` says which map answers which
    question, and what must not be read from it.

    Parameters
    ----------
    outcomes : tuple
        One record for each method in the order given, added baselines last: ``name``,
        ``baseline``, ``embedding``, ``estimator`` (fitted), ``parameters``, ``seconds``, ``warnings``, ``error``, and
        ``reused`` where the map was kept from an earlier run, with its time.
    scored : dict of str
        For each method that succeeded: its ``scores``, ``rnx`` curve and ``per_row`` quality.
    rows_scored : ndarray of bool
        The rows that every method embedded; all scores are over these. If there are fewer than three, the rows that
        any method embedded: then each method is scored on its own rows, with a note.
    n_columns : int
        Number of columns of the data.
    reference : ReferenceChoice
        The distances that the embeddings are compared with: ``name``, and ``text`` as a phrase.
    seed : int
        Seed of all random choices.
    labels : Labels or None
        The label of each row: ``values``, ``name``, and ``classes`` with ``codes`` if the labels are classes.
    row_names, column_names : list of str or None
        If they were given.
    versions : dict of str
        Versions of the packages used.
    notes : tuple of str
        What is needed to read the scores.
    seconds : float
        Total time.
    columns : tuple of Column
        What each column of a table is (``kind``), what it was used for (``use``) and why (``reason``); empty if an
        array was passed.
    panel : tuple of str
        Why these methods were run, if the default selection was.
    rows_used : ndarray of int or None
        Positions of the rows in the table that was passed; rows without any value are left out.
    verdict : Verdict
        Answers in words, each with its numbers: ``print(comparison.verdict)``; empty with ``verdict=False``.
    evidence : Evidence or None
        The numbers behind the verdict: rankings by question, groups, structure, dimension.
    data_copy : DataCopy or None
        How far rows are from each other in the data, rounded: what the report shows where you point at a row.
    treatment : Treatment or None
        What was done to the columns of a table before methods saw them; ``model`` does it to new rows.
    drawn : Drawn or None
        How the rows were drawn, where they are a random sample of more (``n_all``); `rows_used` has their numbers.
    """

    outcomes: tuple[Outcome, ...]
    scored: dict[str, Scored]
    rows_scored: np.ndarray
    n_columns: int
    reference: ReferenceChoice
    seed: int
    labels: Labels | None = None
    row_names: list[str] | None = None
    column_names: list[str] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    columns: tuple[Column, ...] = ()
    panel: tuple[str, ...] = ()
    rows_used: np.ndarray | None = None
    verdict: Verdict = field(default_factory=Verdict)
    evidence: Evidence | None = None
    data_copy: DataCopy | None = None
    treatment: Treatment | None = None
    drawn: Drawn | None = None

    @property
    def names(self) -> list[str]:
        """All methods, with the baselines and those that failed."""
        return [outcome.name for outcome in self.outcomes]

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return len(self.rows_scored)

    @property
    def embeddings(self) -> dict[str, np.ndarray]:
        """Method -> embedding, for the methods that succeeded."""
        return {o.name: o.embedding for o in self.outcomes if o.embedding is not None}

    @property
    def models(self) -> dict[str, Any]:
        """Method -> fitted estimator, for the methods that succeeded."""
        return {o.name: o.estimator for o in self.outcomes if o.embedding is not None}

    def model(self, name: str) -> Any:
        """The fitted method `name` as a model of tables like this one, for new rows and `lowdim.save`.

        It does to the columns what the comparison did: categories coded, units scaled, dates counted from the same day.

        Parameters
        ----------
        name : str
            A method of the comparison.

        Returns
        -------
        estimator or TableModel
            The estimator itself where it sees the columns as they are.
        """
        known = self.models
        if name not in known:
            raise ValueError(f"model: name must be one of {', '.join(known)}; got {name!r}.")
        estimator = known[name]
        if not any(key.endswith("_") and not key.startswith("_") for key in vars(estimator)):
            raise ValueError(
                f"model: {name} is not fitted here: its map was random, ready-made or kept from an earlier run. Fit it "
                "again without checkpoint=."
            )
        return estimator if self.treatment is None else model_of(self.treatment, estimator)

    def places(self, X: Any) -> dict[str, Any]:
        """Method -> coordinates of rows, such as all those of which a sample was compared.

        Parameters
        ----------
        X : data frame, array, or collection of Dask
            The rows, with the columns of those compared. Of Dask, coordinates are collections that are computed when
            they are asked for.

        Returns
        -------
        dict
            Of the methods that can place new rows: ``drawn.left`` and the verdict name the others.
        """
        found = {name: estimator for name, estimator in self.models.items() if can_place(estimator) is None}
        return {name: self.model(name).transform(X) for name in found}

    @property
    def scores(self) -> dict[str, dict[str, Any]]:
        """Method -> measure -> value."""
        return {name: dict(scored.scores) for name, scored in self.scored.items()}

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """Method -> R_NX(K) for K = 1, 2, ...: 0 is random, 1 is perfect."""
        return {name: scored.rnx for name, scored in self.scored.items()}

    @property
    def per_row(self) -> dict[str, np.ndarray]:
        """Method -> R_NX area of each row's neighbourhood; NaN for rows that were not scored.

        Estimated where only some rows were ranked from: ``scored[method].estimated_from`` says from what.
        """
        return {name: scored.per_row for name, scored in self.scored.items()}

    @property
    def opening_colour(self) -> OpeningColour | None:
        """The column that maps without labels are coloured by when a report opens, and why; None where there is none.

        Of the columns of the recommended map (or of the first) the one that changes most smoothly over it.
        """
        names = [self.verdict.recommended, *(o.name for o in self.outcomes if not o.baseline), *self.embeddings]
        name = next((one for one in names if one in self.embeddings), None)
        if self.labels is not None or name is None or not self.columns:
            return None
        return opening_colour(self.columns, name, self.embeddings[name], self.seed)

    @property
    def original_error(self) -> float | None:
        """The 1-nearest-neighbour error in the data, before any reduction.

        If a reference was given, the error between its rows. None without classes, and if methods were scored on
        different rows.
        """
        found = {scored.scores.get("knn_error_data") for scored in self.scored.values()}
        return found.pop() if len(found) == 1 else None

    @property
    def copies(self) -> dict[str, str]:
        """Method -> an earlier one with the same map, but for rotation, reflection and scale."""
        return copies(list(self.outcomes))

    @property
    def failures(self) -> dict[str, str]:
        """Method -> its error message, for the methods that failed."""
        return {o.name: o.error for o in self.outcomes if o.error is not None}

    @property
    def warnings(self) -> dict[str, tuple[str, ...]]:
        """Method -> its warnings and what is degenerate about its map, for the methods that have any."""
        found = {o.name: self._warnings_of(o) for o in self.outcomes}
        return {name: texts for name, texts in found.items() if texts}

    def _warnings_of(self, outcome: Outcome) -> tuple[str, ...]:
        scored = self.scored.get(outcome.name)
        return outcome.warnings if scored is None else (*outcome.warnings, *scored.warnings)

    @property
    def table(self) -> list[dict[str, Any]]:
        """One dict for each method in the order given; ``pandas.DataFrame(c.table)`` makes a data frame of them."""
        return [self._row(outcome) for outcome in self.outcomes]

    def _row(self, outcome: Outcome) -> dict[str, Any]:
        embedded = outcome.embedded
        measures = {key: None for scored in self.scored.values() for key in scored.scores}
        if outcome.name in self.scored:
            measures |= self.scored[outcome.name].scores
        return {
            "method": outcome.name,
            "baseline": outcome.baseline,
            "n_components": outcome.n_components,
            "rows": self.n_rows,
            "rows_embedded": 0 if embedded is None else int(embedded.sum()),
            "reference": self.reference.name,
            **{key: plain(value) for key, value in measures.items()},
            "seconds": round(outcome.seconds, 4),
            "seed": self.seed,
            "warnings": len(self._warnings_of(outcome)),
            "error": outcome.error,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the embeddings and the values of each row, as JSON can hold it (no NaN, no numpy types)."""
        about = {o.name: o for o in self.outcomes}
        rows = []
        for row in self.table:
            outcome = about[row["method"]]
            more = {"parameters": outcome.parameters, "diagnostics": outcome.diagnostics}
            curve = {"rnx": plain(list(self.curves[outcome.name]))} if outcome.name in self.scored else {}
            rows.append({**row, "warnings": list(self._warnings_of(outcome)), **more, **curve})
        return {
            "rows": self.n_rows,
            "rows_scored": int(self.rows_scored.sum()),
            **({} if self.drawn is None else {"rows_drawn_from": self.drawn.n_all}),
            "columns": self.n_columns,
            "reference": self.reference.name,
            "reference_text": self.reference.text,
            "label": None if self.labels is None else self.labels.name,
            "opening_colour": None if (found := self.opening_colour) is None else {**asdict(found), "why": found.why},
            "seed": self.seed,
            "versions": self.versions,
            "notes": list(self.notes),
            "verdict": self.verdict.to_dict(),
            "panel": list(self.panel),
            "column_kinds": [column.to_dict() for column in self.columns],
            "methods": rows,
        }

    def aligned(self) -> dict[str, np.ndarray]:
        """Method -> first two components, rotated and reflected onto the first map, for pictures side by side."""
        return aligned_maps(self.embeddings)

    def report(
        self,
        path: str | Path = "report.html",
        *,
        title: str | None = None,
        max_points: int = 100_000,
        data: Any = None,
        colours: Mapping[str, Any] | None = None,
        image_shape: Sequence[int] | None = None,
        imputation: Any = None,
    ) -> Path:
        """Write an HTML page without external files: maps, R_NX curves, scores, warnings and how to read them.

        Parameters
        ----------
        path : str or Path
            The file to write; an existing file is replaced atomically.
        title : str, optional
            The heading of the page.
        max_points : int
            The largest number of rows drawn in a map; of more rows a random sample is drawn, as the page states.
            Scores do not depend on it.
        data : array or data frame of shape (n_rows, n_columns), optional
            The data, so that maps can be coloured by a column; the columns of a table are known without it.
        colours : dict of str to array, optional
            Further quantities to colour the maps by, one value for each row, such as
            ``{"fracture": lowdim.trust.fractures(model, X).fracture}``.
        image_shape : (height, width) or (height, width, 3), optional
            Rows of `data` are images of this shape: the page shows them where you point and in the table of marked
            rows. Columns named ``pixel_1_1``, ``pixel_1_2``, ... are known to be images without it.
        imputation : Imputation, optional
            What :func:`lowdim.impute` made of the same rows with several draws: the linear map then shows, as ellipses,
            where rows with missing cells may be.

        Returns
        -------
        Path
            The file written.
        """
        from lowdim.report import render

        return render.write(
            self, path, title=title, max_points=max_points, data=data, colours=colours, image_shape=image_shape,
            imputation=imputation,
        )  # fmt: skip

    def show(
        self,
        *,
        where: str = "auto",
        title: str | None = None,
        max_points: int = 50_000,
        height: int = 800,
        data: Any = None,
    ) -> Any:
        """Show the page of `report` in a notebook, joined to Python, or in the browser.

        In a notebook ``selection`` and ``hovered`` of what is returned are arrays of positions of rows, as marked and
        pointed at in the page; rows that are put into ``selection`` are marked in the page, and
        ``observe(function, "selection")`` calls a function at every change. A notebook that is exported as HTML keeps
        the page: maps and curves stay linked without Python.

        Parameters
        ----------
        where : {"auto", "notebook", "browser"}
            Where to show it; "auto": in the notebook if this is one. A notebook needs the extra ``notebook``; without
            it the page is shown, but Python does not hear from it.
        title : str, optional
            The heading of the page.
        max_points : int
            The largest number of rows drawn in a map; of more rows a sample is drawn, as the page states.
        height : int
            Height in the notebook, in pixels.
        data : array or data frame of shape (n_rows, n_columns), optional
            The data, so that maps can be coloured by a column; the columns of a table are known without it.

        Returns
        -------
        ComparisonWidget or Page
            The widget, with ``selection`` and ``hovered``; or the page alone, with its ``html`` and the ``path`` of the
            file that the browser was asked to open.

        Examples
        --------
        >>> import lowdim
        >>> X = lowdim.datasets.swiss_roll(100, random_state=0).X
        >>> page = lowdim.compare(X, methods=["pca"], verdict=False).show(where="notebook")
        >>> page.selection = [3, 1, 4]
        >>> page.selection
        array([1, 3, 4])
        """
        from lowdim.report import frame

        return frame.show(self, where=where, title=title, max_points=max_points, height=height, data=data)

    def __repr__(self) -> str:
        from lowdim.report.score_table import as_text

        return printable_lines(as_text(self))

    def _repr_html_(self) -> str:
        from lowdim.report.score_table import as_html

        return as_html(self)
