"""OpenTelemetry spans: within the caller's trace, and without a word of what is asked or answered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gitmem.server.telemetry import stage
from tests.harness import Repo
from tests.server.conftest import Server

TRACE, PARENT = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """What is exported by this process, whose provider can be set once."""
    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    trace.set_tracer_provider(provider)
    assert trace.get_tracer_provider() is provider
    yield exported
    provider.shutdown()


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


def test_a_request_and_its_stages_are_spans_of_the_callers_trace(
    server: Server, spans: InMemorySpanExporter, tmp_path: Path
) -> None:
    repo = Repo(tmp_path / "notes")
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The okapi eats leaves\n"})
    server.add("acme", "notes", repo)
    spans.clear()
    headers = {"traceparent": f"00-{TRACE:032x}-{PARENT:016x}-01"}
    answer = server.ask("acme read", "POST", "/v1/search", json={"query": "okapi leaves"}, headers=headers)
    assert answer.json()["hits"]
    finished = spans.get_finished_spans()
    (request,) = [span for span in finished if span.kind is trace.SpanKind.SERVER]
    assert request.name == "gitmem.search" and request.parent is not None and request.parent.span_id == PARENT
    ids = {span.context.span_id for span in finished if span.context}
    for span in finished:
        assert span.context is not None and span.context.trace_id == TRACE
        assert span is request or (span.parent is not None and span.parent.span_id in ids)
    assert {"gitmem.authenticate", "gitmem.statement", "gitmem.git", "gitmem.audit"} <= {span.name for span in finished}
    whole = "".join(span.to_json() for span in finished)
    assert not [word for word in ("okapi", "leaves", "MEMORY", "notes", "acme", os.fspath(tmp_path)) if word in whole]


def test_a_span_of_a_failure_has_its_kind_and_no_words(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError), stage("search"):
        raise ValueError("okapi")
    (span,) = spans.get_finished_spans()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert dict(span.attributes or {}) == {"error.type": "ValueError"}
    assert "okapi" not in span.to_json()
