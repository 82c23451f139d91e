"""The page of `lowdim view`: it asks the server that sent it for tiles, and nobody else for anything."""

from __future__ import annotations

from lowdim.report.render import bundle, environment


def view_page(title: str) -> tuple[str, str]:
    """The page as text, and the content security policy that is sent with it."""
    parts = bundle("view")
    policy = (
        f"default-src 'none'; script-src '{parts['script_hash']}'; style-src '{parts['style_hash']}'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return environment().get_template("view.html").render(**parts, title=title), policy
