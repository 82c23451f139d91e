"""A directive for pictures that their own code draws: the picture, and the code folded below it.

    ```{picture} What is to be seen, for those who cannot see it
    plt.scatter(*lowdim.PCA(2).fit_transform(X).T)
    ```

`np`, `plt` and `lowdim` are there, and `numbers`, the kept results of the published experiments by name: a picture may
draw them where the experiment itself takes minutes. A warning of the code is an error of the page. A picture is drawn
once per code.
"""

import hashlib
import json
import warnings
from pathlib import Path

import matplotlib
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

matplotlib.use("Agg")

NUMBERS = Path(__file__).resolve().parent.parent / "experiments" / "numbers.json"
STYLE = {
    "figure.figsize": (6.4, 2.8),
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": "medium",
    "font.size": 9,
    "lines.markersize": 3,
    "image.cmap": "viridis",
    "savefig.facecolor": "white",
}


def draw(code: str, path: Path) -> None:
    """Run the code and save its last figure."""
    import matplotlib.pyplot as plt
    import numpy as np

    import lowdim

    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)  # of other libraries
        numbers = json.loads(NUMBERS.read_text(encoding="utf-8"))
        exec(compile(code, str(path), "exec"), {"np": np, "plt": plt, "lowdim": lowdim, "numbers": numbers})
        path.parent.mkdir(exist_ok=True)
        plt.savefig(path, dpi=140, metadata={"Software": None})
        plt.close("all")


class Picture(SphinxDirective):
    """```{picture} alternative text"""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True

    def run(self):
        """The image and its code."""
        code = "\n".join(self.content)
        seen = code.encode()
        if "numbers[" in code:
            self.env.note_dependency(str(NUMBERS))
            seen += NUMBERS.read_bytes()
        name = f"{hashlib.sha256(seen).hexdigest()[:16]}.png"
        path = Path(self.env.srcdir) / "_pictures" / name
        if not path.exists():
            try:
                draw(code, path)
            except Exception as problem:
                raise self.error(f"the picture could not be drawn: {type(problem).__name__}: {problem}") from problem
        text = nodes.literal_block(code, code, language="python")
        opening = nodes.raw("", "<details><summary>The code of this picture</summary>", format="html")
        image = nodes.image(uri=f"/_pictures/{name}", alt=self.arguments[0])
        return [image, opening, text, nodes.raw("", "</details>", format="html")]


def setup(app):
    """Register the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
