"""Who may start a server, and who may call its tools: trust, rules, modes and questions."""

import json
from pathlib import Path

import pytest

from outlive.config import Workspace
from outlive.config.home import trust
from outlive.config.mcp_servers import McpJson, configured_servers
from outlive.errors import ConfigError
from outlive.testing import say
from outlive.tools.permissions.asking import PermissionAnswer, PermissionQuestion
from outlive.tools.permissions.rules import Rules
from outlive.tools.permissions.trust import grants
from tests.cli.command import Outlive
from tests.tools.mcp.conftest import Place
from tests.tools.mcp.test_calls import ask


class Person:
    """Answers every question the same way."""

    def __init__(self, choice: str) -> None:
        self.choice = choice
        self.asked: list[PermissionQuestion] = []

    async def __call__(self, question: PermissionQuestion) -> PermissionAnswer:
        self.asked.append(question)
        return PermissionAnswer(self.choice)  # type: ignore[arg-type]


def test_servers_of_a_project_are_named_and_not_started_until_it_is_trusted(place: Place) -> None:
    path = place.project(evil=place.plain())
    (place.work / "outlive.toml").write_text(f"[mcp.servers.other]\ncommand = {json.dumps(str(place.seen / 'x'))}\n")
    place.run()
    assert "mcp_call" not in place.tools()
    assert any("MCP servers are not started: evil." in note for note in place.notes)
    assert any("MCP server other" in note for note in place.notes)
    assert place.starts == []
    trust(path)
    look = place.run(ask("evil", "look"), mode="bypass")[0]
    assert (look.is_error, len(place.starts)) == (False, 1)
    place.project(evil=place.plain(), another=place.plain())
    place.run()
    assert "mcp_call" not in place.tools(), "it has changed"
    assert len(place.starts) == 1


def test_a_person_sees_server_tool_and_exact_arguments_and_may_say_no(place: Place) -> None:
    place.own(plain=place.plain())
    person = Person("no")
    (refused,) = place.run(ask("plain", "write", text="a b"), asker=person)
    (question,) = person.asked
    assert (question.tool, question.subject) == ("mcp__plain__write", '{"text":"a b"}')
    assert question.always == ('mcp__plain__write(={"text":"a b"})',)
    assert "the user said no" in refused.text
    assert not (place.seen / "written").exists()
    person = Person("always")
    place.run(ask("plain", "write", text="a b"), asker=person)
    place.run(ask("plain", "write", text="a b"))
    assert len(person.asked) == 1
    assert (place.seen / "written").read_text() == "a b"
    assert "there is no one to ask" in place.run(ask("plain", "write", text="other"))[0].text


@pytest.mark.parametrize("rule", ["mcp__plain__write", "mcp__plain", "mcp__plain__*", "mcp__plain__write(*b*)"])
def test_rules_allow_and_deny_a_tool_or_all_of_a_server(place: Place, rule: str) -> None:
    place.own(plain=place.plain())
    assert not place.run(ask("plain", "write", text="b"), allow=[rule])[0].is_error
    (denied,) = place.run(ask("plain", "write", text="b"), deny=[rule], mode="bypass")
    assert f"denied by the user's rule {rule}" in denied.text


@pytest.mark.parametrize("rule", ["mcp__plai", "mcp__plain__writ", "mcp__plain__look", "mcp_call"])
def test_a_rule_for_another_name_allows_nothing(place: Place, rule: str) -> None:
    place.own(plain=place.plain())
    assert place.run(ask("plain", "write", text="b"), allow=[rule])[0].is_error
    assert not (place.seen / "written").exists()


def test_a_rule_for_a_tool_is_not_one_for_a_longer_name() -> None:
    assert not Rules(["mcp__plain__write"]).allowed("mcp__plain__write__all", "{}", ())
    with pytest.raises(ConfigError, match="is not a rule"):
        Rules(["mcp__*"])


def test_a_claim_to_read_only_counts_for_servers_of_the_user_alone(place: Place) -> None:
    place.own(mine=place.plain())
    trust(place.project(theirs=place.plain()))
    mine, theirs, write = place.run(
        ask("mine", "look"), ask("theirs", "look"), ask("mine", "write", text="x"), mode="plan"
    )
    assert not mine.is_error
    assert "this is plan mode" in theirs.text
    assert "this is plan mode" in write.text
    (asked,) = place.run(ask("theirs", "look"))
    assert "there is no one to ask" in asked.text


def test_the_user_s_own_server_keeps_its_name(place: Place) -> None:
    place.own(github={"command": "mine"})
    trust(place.project(github={"command": "theirs"}, more={"url": "https://example.org/mcp"}))
    found = configured_servers(Workspace.find(place.work))
    assert [(one.name, one.server.command, one.counts) for one in found] == [
        ("github", "mine", True),
        ("github", "theirs", False),
        ("more", "", True),
    ]


def test_variables_are_filled_in_but_a_project_is_not_given_the_key_of_the_model(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the key")
    monkeypatch.setenv("WORD", "hello")
    entry = {"command": "x", "args": ["${WORD}-${NONE:-default}"], "env": {"A": "${ANTHROPIC_API_KEY}"}}
    place.own(a=entry, b={"command": "x", "env": {"A": "${MISSING}"}})
    trust(place.project(c=entry))
    own, missing, theirs = configured_servers(Workspace.find(place.work))
    assert (own.expanded().args, own.expanded().env) == (("hello-default",), {"A": "the key"})
    with pytest.raises(ConfigError, match="needs MISSING, which is not set"):
        missing.expanded()
    with pytest.raises(ConfigError, match="asks for ANTHROPIC_API_KEY"):
        theirs.expanded()


def test_what_a_server_does_is_shown_without_secrets_before_it_is_trusted(place: Place) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    place.project(
        a={"command": "npx", "args": ["-y", "a b\u202e"], "env": {"GITHUB_TOKEN": token, "LD_PRELOAD": "./evil.so"}},
        b={"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${WORD}"}},
    )
    first, second = McpJson(Workspace.find(place.work)).lines()
    assert first.startswith("start MCP server a: npx -y 'a b\ufffd' (sets GITHUB_TOKEN=")
    assert "LD_PRELOAD=./evil.so" in first
    assert token not in first
    assert second == (
        "connect to MCP server b: https://example.org/mcp (sends Authorization; gets WORD of your environment)"
    )
    (place.work / "outlive.toml").write_text('[mcp.servers.c]\ncommand = "c"\n')
    assert grants(Workspace.find(place.work)) == ["start MCP server c: c"]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({}, "either command"),
        ({"command": "x", "url": "https://x"}, "either command"),
        ({"type": "http", "command": "x"}, "either command"),
        ({"url": "file:///etc/passwd"}, "must begin with http"),
        ({"type": "sse", "url": "https://x"}, "Invalid enum value 'sse'"),
        ({"command": "x", "args": "y"}, "Expected `array`"),
        ("x", "is not a table"),
    ],
)
def test_a_server_that_cannot_be_is_named_and_the_rest_counts(place: Place, entry: object, problem: str) -> None:
    path = place.work / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"bad": entry, "a__b": {"command": "x"}, "good": {"command": "x"}}}))
    found = McpJson(Workspace.find(place.work))
    assert list(found.servers) == ["good"]
    assert problem in found.problems[0]
    assert "'a__b'" in found.problems[1]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', "\udcff", "[" * 100_000])
def test_a_damaged_file_is_a_notice_and_no_reason_to_stop(place: Place, text: str) -> None:
    path: Path = place.work / ".mcp.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    place.run()
    assert any(".mcp.json" in note and "do not count" in note for note in place.notes)


def test_a_wrong_section_is_refused_with_its_place(place: Place) -> None:
    (place.home / "outlive.toml").write_text('[mcp.servers."a b"]\ncommand = "x"\n')
    with pytest.raises(ConfigError, match=r"outlive\.toml: \[mcp\] MCP server 'a b'"):
        place.run(say("never"))


def test_the_command_line_says_which_servers_are_named_and_what_trusting_them_means(place: Place) -> None:
    place.own(mine={"command": "npx", "args": ["-y", "thing"]})
    path = place.project(theirs={"type": "http", "url": "https://example.org/mcp"})
    outlive = Outlive(place.work)
    assert [(one["server"], one["is"], one["counts"]) for one in outlive("where", "--json").json["mcp"]] == [
        ("mine", "npx -y thing", True),
        ("theirs", "https://example.org/mcp", False),
    ]
    assert f"theirs, https://example.org/mcp: no, not trusted. Look at it, then: outlive trust ({path})" in (
        outlive("where").out
    )
    asked = outlive("trust")
    assert "connect to MCP server theirs: https://example.org/mcp\n" in asked.out
    assert "only a person can trust this" in asked.err
    trust(path)
    assert outlive("where", "--json").json["mcp"][1]["counts"]
    outlive("trust", "--forget")
    assert not outlive("where", "--json").json["mcp"][1]["counts"]
