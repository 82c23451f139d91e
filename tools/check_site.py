"""Local links of the built site lead somewhere, and no page fetches anything.

Usage: python tools/check_site.py FOLDER
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src")}


class Page(HTMLParser):
    """Links, names of places, and what is loaded."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.places |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        canonical = tag == "link" and found.get("rel") in ("canonical", "search")
        loaded = [key for key in ("src", "href") if (tag, key) in LOADS and found.get(key)]
        self.loads += [] if canonical else [found[key] for key in loaded]


@cache
def page(path):
    return Page(path.read_text(encoding="utf-8"))


def problems(folder):
    """Each broken link and each address of a network, with the page it is on."""
    for path in sorted(folder.rglob("*.html")):
        here = path.relative_to(folder)
        if here.parts[0] == "_static":  # templates of the theme
            continue
        for address in page(path).loads:
            if urlsplit(address).netloc:
                yield f"{here}: loads {address}"
        for link in page(path).links + page(path).loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{here}: no file {link}"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).places:
                yield f"{here}: no place {link}"
    for style in sorted(folder.rglob("*.css")):
        for address in re.findall(r"url\(['\"]?(https?:[^)'\"]+)", style.read_text(encoding="utf-8", errors="replace")):
            yield f"{style.relative_to(folder)}: loads {address}"


def main(folder):
    found = list(problems(Path(folder).resolve()))
    for line in found:
        print(line)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
