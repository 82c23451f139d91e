"""The committed script is the one that its sources make; node is not needed to see that."""

import hashlib
import re
from pathlib import Path

import pytest

from lowdim.report.render import STATIC

WEB = Path(__file__).parents[2] / "web"


def sources_hash():
    names = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"]
    names += [path.relative_to(WEB).as_posix() for path in (WEB / "src").rglob("*") if path.is_file()]
    digest = hashlib.sha256()
    for name in sorted(names):
        text = (WEB / name).read_bytes().replace(b"\r\n", b"\n")
        digest.update(name.encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


@pytest.mark.skipif(not WEB.is_dir(), reason="the sources of the page are not part of this copy")
@pytest.mark.parametrize("file", ["report.js", "report.css", "widget.js", "view.js", "view.css"])
def test_the_bundle_is_made_from_these_sources(file):
    first = (STATIC / file).read_text(encoding="utf-8").splitlines()[0]
    found = re.search(r"sha256-([0-9a-f]{64})", first)
    assert found, f"{file} does not say what it was made from"
    assert found[1] == sources_hash(), f"{file} is stale: cd web && npm ci && npm run build"


@pytest.mark.parametrize("page", ["report", "view"])
def test_the_bundle_can_stand_inside_a_page(page):
    script, style = ((STATIC / f"{page}.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    assert not re.search(r"</script|<!--|</style", script + style, flags=re.I)
    assert script.isascii()
    assert "\r" not in script + style  # the browser would count other characters than the policy's hash
    assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write", script)
    assert len(script) < 100_000


@pytest.mark.skipif(not WEB.is_dir(), reason="the sources of the page are not part of this copy")
def test_the_lock_file_names_no_host():
    assert "://" not in re.sub(r'"(funding|url)": .*', "", (WEB / "package-lock.json").read_text(encoding="utf-8"))


def test_what_is_bundled_has_its_licence_beside_it():
    notice = (STATIC / "NOTICE").read_text(encoding="utf-8")
    assert "no third-party code" in notice
    package = WEB / "package.json"
    if package.is_file():
        assert '"dependencies"' not in package.read_text(encoding="utf-8")
