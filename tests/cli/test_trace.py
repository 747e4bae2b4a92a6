"""`outlive session trace`, with a collector that decodes what it is sent."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.cli.command import Outlive
from tests.replay.test_spans import recorded


class Collector:
    """Takes OTLP over HTTP."""

    def __init__(self) -> None:
        self.received: list[ExportTraceServiceRequest] = []
        self.headers: list[dict[str, str]] = []
        self.status = 200
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                if self.headers.get("content-encoding") == "gzip":
                    body = gzip.decompress(body)
                request = ExportTraceServiceRequest()
                request.ParseFromString(body)
                collector.received.append(request)
                collector.headers.append({name.lower(): value for name, value in self.headers.items()})
                self.send_response(collector.status)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1/traces"


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()


@pytest.fixture
def outlive(tmp_path: Path) -> Outlive:
    recorded(tmp_path)
    return Outlive(tmp_path)


def test_a_collector_gets_the_spans(outlive: Outlive, collector: Collector) -> None:
    done = outlive("session", "trace", "s", "--endpoint", collector.url, "--header", "Authorization=Basic abc")
    assert done.out == "sent 7 spans in 2 traces\n"
    (request,) = collector.received
    (resource,) = request.resource_spans
    spans = resource.scope_spans[0].spans
    assert {"key": "service.name", "value": "outlive"} in [
        {"key": one.key, "value": one.value.string_value} for one in resource.resource.attributes
    ]
    root = next(span for span in spans if span.name == "invoke_agent outlive")
    child = next(span for span in spans if span.parent_span_id == root.span_id)
    assert child.trace_id == root.trace_id
    assert collector.headers[0]["authorization"] == "Basic abc"
    assert b"Run the tests" not in request.SerializeToString()


def test_content_is_sent_when_asked_for(outlive: Outlive, collector: Collector) -> None:
    outlive("session", "trace", "s", "--content", "--endpoint", collector.url)
    assert b"Run the tests" in collector.received[0].SerializeToString()


def test_secrets_of_a_log_that_was_not_masked_are_not_sent(outlive: Outlive, collector: Collector) -> None:
    (log,) = (outlive.folder / ".transcripts").glob("*.jsonl")
    key = "ghp_" + "Aa1" * 12
    log.write_text(log.read_text().replace("Run the tests", f"Run the tests with {key}"))
    outlive("session", "trace", "s", "--content", "--endpoint", collector.url)
    sent = collector.received[0].SerializeToString()
    assert b"Run the tests with [masked GitHub token]" in sent
    assert key.encode() not in sent


def test_a_refusal_of_the_collector_is_a_failure(outlive: Outlive, collector: Collector) -> None:
    collector.status = 401
    refused = outlive("session", "trace", "s", "--endpoint", collector.url)
    assert refused.code == 1
    assert "did not take the spans" in refused.err
    assert "401" in refused.err


def test_a_dry_run_sends_nothing(outlive: Outlive, collector: Collector) -> None:
    shown = outlive("session", "trace", "s", "--dry-run", "--json", "--endpoint", collector.url)
    assert len(shown.json) == 7
    assert len(shown.json[0]["trace"]) == 32
    assert not collector.received


@pytest.mark.parametrize("wrong", [("--header", "authorization"), ("--endpoint", "localhost:4318")])
def test_wrong_usage_is_named(outlive: Outlive, wrong: tuple[str, str]) -> None:
    refused = outlive("session", "trace", "s", *wrong)
    assert refused.code == 2
    assert wrong[0] in refused.err
