"""trace: send a session to an OpenTelemetry collector."""

import logging
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from outlive import __version__
from outlive.agent.log.masking import masked
from outlive.cli.echo import echo, print_json
from outlive.cli.session.common import command, say_damage, session_argument
from outlive.errors import ConfigError
from outlive.replay.spans import TraceSpan, spans
from outlive.secrets import mask
from outlive.stores.logs.protocol import LogStore
from outlive.stores.logs.reading import full_log

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

BATCH = 200
"""Spans of one request."""


@command()
@session_argument
@click.option(
    "--endpoint", metavar="URL", help="Where traces go, such as http://localhost:4318/v1/traces.  [default: OTEL_…]"
)
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE", help="A header, such as authorization=…")
@click.option("--content", is_flag=True, help="Also what was said, arguments and results of tools.")
@click.option("--dry-run", is_flag=True, help="Send nothing; with --json, print the spans.")
def trace(
    store: LogStore,
    session: str,
    endpoint: str | None,
    headers: tuple[str, ...],
    content: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Send a session as OpenTelemetry traces, over OTLP, to Langfuse, Phoenix, Grafana or any other collector.

    Each request of the user is a trace with its model calls, tool calls and passes, named by the conventions for
    generative AI. Ids follow from the log, so sending a session again adds nothing twice where a collector keeps one
    span an id. Without --content no words leave this machine, only names, times, tokens and costs.

    OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_HEADERS count as usual. Needs the extra: pip install
    'outlive[otel]'.

    \b
    Examples:
      outlive session trace SESSION --endpoint http://localhost:4318/v1/traces
      outlive session trace SESSION --content --header "authorization=Basic …"
      outlive session trace SESSION --dry-run --json
    """
    log = full_log(store, session)
    say_damage(log.damage)
    events = (masked(event, mask) for event in log.events) if content else log.events
    found = list(spans(session, events, content=content))
    if not dry_run:
        _send(found, endpoint, _parsed(headers))
    if as_json:
        print_json(found)
    else:
        roots = sum(not span.parent for span in found)
        echo(f"{'would send' if dry_run else 'sent'} {len(found):,} spans in {roots:,} traces")


def _parsed(headers: Iterable[str]) -> dict[str, str]:
    pairs = [header.partition("=") for header in headers]
    for name, equals, _ in pairs:
        if not name.strip() or not equals:
            raise click.UsageError(f"--header {name!r}: write NAME=VALUE")
    return {name.strip().lower(): value for name, _, value in pairs}


def _send(found: Iterable[TraceSpan], endpoint: str | None, headers: dict[str, str]) -> None:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError:
        raise ConfigError("outlive session trace needs its extra: pip install 'outlive[otel]'") from None
    if endpoint is not None and urlsplit(endpoint).scheme not in ("http", "https"):
        raise click.UsageError(f"--endpoint {endpoint!r}: an http:// or https:// address, with its path")
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)  # it tells of every attempt
    exporter = OTLPSpanExporter(endpoint=endpoint, headers=headers or None)
    waiting = iter(_readable(found))
    try:
        while batch := list(islice(waiting, BATCH)):
            if exporter.export(batch) is not SpanExportResult.SUCCESS:
                raise ConfigError(
                    "the collector did not take the spans; what it said is above",
                    hint="check the address (it ends with /v1/traces) and the headers",
                )
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]


def _readable(found: Iterable[TraceSpan]) -> Iterator["ReadableSpan"]:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    resource = Resource({"service.name": "outlive", "service.version": __version__})
    scope = InstrumentationScope("outlive", __version__)

    def context(trace: str, id: str) -> SpanContext:
        flags = TraceFlags(TraceFlags.SAMPLED)
        return SpanContext(int(trace, 16), int(id, 16), is_remote=False, trace_flags=flags)

    for span in found:
        yield ReadableSpan(
            span.name,
            context(span.trace, span.id),
            context(span.trace, span.parent) if span.parent else None,
            resource,
            {**span.attributes, **({"error.type": span.error} if span.error else {})},
            kind=SpanKind.CLIENT if span.is_request else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR if span.error else StatusCode.UNSET),
            start_time=round(span.begin * 10**9),
            end_time=round(span.end * 10**9),
            instrumentation_scope=scope,
        )
