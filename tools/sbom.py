"""Write what the package is made of and needs, as CycloneDX JSON. Usage: python tools/sbom.py [FILE]

The same sources give the same file: no time, no random number. Components inside the wheel come from `INSIDE`, those
that are installed beside it from pyproject.toml.
"""

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INSIDE = (  # name, licence, what of it is in the wheel
    ("nanobind", "BSD-3-Clause", "linked into the compiled core"),
    ("robin-map", "MIT", "part of nanobind, linked into the compiled core"),
    ("Natural Earth", None, "points on land and their continents in lowdim/datasets/world.npz"),
)


def version():
    text = (ROOT / "src/lowdim/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)[1]


def needed():
    """(name, range of versions, scope) of everything pip installs with lowdim or one of its extras for users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [(line, "required") for line in project["dependencies"]]
    lines += [(line, "optional") for name in extras if name not in ("all", "docs", "test") for line in extras[name]]
    found = {}
    for line, scope in lines:
        name, rest = re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?(.*)", line).groups()
        if name != "lowdim":
            found.setdefault(name, (name, rest.strip(), scope))
    return sorted(found.values())


def document():
    name = f"lowdim-{version()}"
    inside = [
        {"type": "library", "name": title, "scope": "required", "description": part,
         "licenses": [{"license": {"id": licence} if licence else {"name": "public domain"}}]}
        for title, licence, part in INSIDE
    ]  # fmt: skip
    beside = [
        {"type": "library", "name": title, "scope": scope, "purl": f"pkg:pypi/{title.lower()}",
         "properties": [{"name": "versions", "value": span}]}
        for title, span, scope in needed()
    ]  # fmt: skip
    main = {
        "type": "library", "name": "lowdim", "version": version(), "purl": f"pkg:pypi/lowdim@{version()}",
        "licenses": [{"license": {"id": "BSD-3-Clause"}}],
    }  # fmt: skip
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, name)}",
        "version": 1,
        "metadata": {"component": main},
        "components": inside + beside,
    }


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist" / f"lowdim-{version()}.cdx.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(document(), indent=2) + "\n", encoding="utf-8")
    print(out)


if __name__ == "__main__":
    main()
