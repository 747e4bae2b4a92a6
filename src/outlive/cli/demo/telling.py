"""How a story of the demo is told: headings, asides, and the checks at its end."""

from collections.abc import Mapping

import click

from outlive.errors import OutliveError


def say(text: str, fg: str | None = None) -> None:
    click.secho(text, bold=True, fg=fg)


def aside(text: str) -> None:
    click.secho(text, dim=True)


def check(claims: Mapping[str, bool]) -> None:
    """Print each claim and whether it holds; raises if one does not."""
    for claim, holds in claims.items():
        click.echo(f"  {click.style('✓', fg='green') if holds else click.style('✗', fg='red', bold=True)} {claim}")
    if not all(claims.values()):
        raise OutliveError("the demo did not end as it should; please report this")
