"""The lists of the reference, made from the names that the package exports: a public name cannot be left out."""

from pathlib import Path

import lowdim

FAMILIES = {
    "linear": "Linear methods",
    "spectral": "Kernels, distances and graphs",
    "stress": "Multidimensional scaling by stress",
    "neighbor_embedding": "Neighbour embedding",
    "curves": "Curves",
    "latent": "Latent-variable models and networks",
}
MODULES = {
    "trust": "Trust: may this map be believed?",
    "quality": "Quality measures",
    "select": "Choice of parameters and methods",
    "datasets": "Data sets",
    "kernels": "Kernels",
    "plot": "Plots",
    "scverse": "Single cells",
}


def write(app, config):
    """One page for the estimators, one for the other functions, one for each module."""
    folder = Path(app.srcdir) / "reference" / "lists"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"estimators": _estimators(), "functions": _page("Functions", "lowdim", lowdim._OTHERS)}
    for name in lowdim._MODULES:
        module = getattr(lowdim, name)
        about = (module.__doc__ or "").split("\n")[0]
        pages[name] = _page(MODULES.get(name, name), f"lowdim.{name}", module.__all__, about)
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text() != text:  # unchanged pages are not built again
            path.write_text(text)


def _estimators() -> str:
    parts = [_title("Estimators"), ".. currentmodule:: lowdim\n"]
    for family, title in FAMILIES.items():
        names = [name for name, home in lowdim._ESTIMATORS.items() if home.split(".")[1] == family]
        parts.append(_title(title, "-") + _summary(names))
    return "\n".join(parts)


def _page(title: str, module: str, names, about: str = "") -> str:
    return "\n".join([_title(title), f"{about}\n", f".. currentmodule:: {module}\n", _summary(sorted(names))])


def _title(text: str, line: str = "=") -> str:
    return f"{text}\n{line * len(text)}\n"


def _summary(names) -> str:
    lines = "\n".join(f"   {name}" for name in names)
    return f".. autosummary::\n   :toctree: ../generated\n   :nosignatures:\n\n{lines}\n"


def setup(app):
    """Before the sources are listed."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
