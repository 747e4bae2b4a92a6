"""What is installed, and under which licence. `python -m tests.test_dependencies` writes the table of licences."""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.audit import judged

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "dependencies.md"
BEGIN, END = "<!-- licences: begin -->", "<!-- licences: end -->"

ALLOWED = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0", "Zlib"),
    "Unlicense",
    # Of files or of the library itself: what uses them unchanged is free in its own licence.
    *("LGPL-3.0-only", "MPL-2.0"),
}
SAID = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "MIT, BSD": "MIT AND BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Licences that packages name in their own words, each looked up in the package itself."""
UNSAID = {"agent-client-protocol": "Apache-2.0", "axe-playwright-python": "MIT AND MPL-2.0"}
"""Packages whose metadata name no licence: what the licence file inside of them is."""


def licence(package: Distribution) -> str:
    """The licence of an installed package as an SPDX expression."""
    about = package.metadata
    classified = [
        name.split(" :: ")[-1]
        for name in about.get_all("Classifier") or []
        if name.startswith("License :: OSI Approved :: ")
    ]
    words = next(iter([*(about.get_all("License-Expression") or []), *(about.get_all("License") or [])]), "")
    if not words or words == "UNKNOWN" or "\n" in words:
        words = classified[0] if len(classified) == 1 else ""
    return SAID.get(words, words) or UNSAID.get(about["Name"], "")


@cache
def found() -> dict[str, set[str]]:
    """Every package that is installed for us, by its name, and which parts of the project bring it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    parts = {
        "core": project["project"]["dependencies"],
        **{name: some for name, some in project["project"]["optional-dependencies"].items() if name != "all"},
        "dev": project["dependency-groups"]["dev"],
    }
    brought: dict[str, set[str]] = {}
    for part, requirements in parts.items():
        for name in _closure([Requirement(one) for one in requirements]):
            brought.setdefault(name, set()).add(part)
    return brought


def _closure(requirements: list[Requirement]) -> set[str]:
    seen: set[tuple[str, str]] = set()
    waiting = [(one, "") for one in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for inner in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), inner)
            if key not in seen:
                seen.add(key)
                waiting += [(Requirement(one), inner) for one in distribution(requirement.name).requires or ()]
    return {name for name, _ in seen}


def pinned() -> Iterator[tuple[str, str]]:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            yield canonicalize_name(name), version


def installed(name: str) -> bool:
    try:
        return bool(distribution(name))
    except PackageNotFoundError:
        return False


def table() -> str:
    """The table of licences: what the core brings comes before what only developers have."""
    order = ["core", *sorted({part for parts in found().values() for part in parts} - {"core", "dev"}), "dev"]
    rows = ["| package | licence | comes with |", "|---|---|---|"]
    for name, parts in sorted(found().items(), key=lambda one: (one[1] == {"dev"}, one[0])):
        first = ["core"] if "core" in parts else sorted(parts - {"dev"}, key=order.index) or ["dev"]
        rows.append(f"| {name} | {licence(distribution(name))} | {', '.join(first)} |")
    return "\n".join(rows)


def test_the_table_of_licences_is_up_to_date() -> None:
    written = PAGE.read_text().split(BEGIN)[1].split(END)[0].strip().splitlines()
    expected = table().splitlines()
    assert [row for row in written if row in expected] == expected, "run: make docs"
    for row in set(written) - set(expected):
        assert not installed(row.split()[1]), "run: make docs"  # another version of Python may need fewer packages


@pytest.mark.parametrize("name", sorted(found()))
def test_every_licence_is_one_that_is_allowed(name: str) -> None:
    words = re.split(r" (?:AND|OR) ", licence(distribution(name)).replace("(", "").replace(")", ""))
    assert set(words) <= ALLOWED, f"{name}: {words}; add it to ALLOWED or SAID only after reading it"


def test_every_package_is_pinned_and_no_other() -> None:
    pins = dict(pinned())
    assert {name: pins.get(name) for name in found()} == {name: distribution(name).version for name in found()}
    assert [name for name in pins if name not in found() and installed(name)] == []


def test_the_licence_of_a_package_that_names_none_is_empty() -> None:
    class Silent(Distribution):
        def read_text(self, filename: str) -> str | None:
            return "Metadata-Version: 2.1\nName: silent\nLicense: UNKNOWN\n" if filename == "METADATA" else None

        def locate_file(self, path: object) -> Path:
            raise PackageNotFoundError

    assert licence(Silent()) == ""


def test_packages_that_were_not_looked_up_do_not_count_as_safe() -> None:
    fine: dict[str, Any] = {"name": "a", "version": "1", "vulns": []}
    skipped = {"name": "b", "skip_reason": "not found"}
    bad = {"name": "c", "version": "1", "vulns": [{"id": "CVE-1", "fix_versions": ["2"]}]}
    assert judged([fine]) == (0, "1 of 1 packages looked up: 0 known vulnerabilities")
    code, report = judged([fine, skipped])
    assert (code, "1 of 2" in report, "NOT looked up" in report, report.endswith("(not found): b")) == (
        3,
        True,
        True,
        True,
    )
    code, report = judged([skipped, bad])
    assert (code, report.startswith("c 1: CVE-1, fixed in 2\n")) == (1, True)


if __name__ == "__main__":
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    if not begin:
        raise SystemExit(f"{PAGE} has no place for the table: {BEGIN}")
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}")
