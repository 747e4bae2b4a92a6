"""Names in the `anthropic-beta` header: which are known, and which one allows which field."""

from outlive.testing.simulator.verdict import RuleBroken

BINDING_CONTROLS = "thinking-binding-controls-2026-08-01"
CLEAR_AT = "mid-conversation-system-clear-at-2026-08-21"
TOOL_CHANGES = "mid-conversation-tool-changes-2026-07-01"
INLINE_TOOLS = "inline-tools-2026-09-15"
"""Tools may also be defined where they are added."""
CONTEXT_MANAGEMENT = "context-management-2025-06-27"
SYSTEM_OUTPUT_CONFIG = frozenset({"mid-conversation-output-config-2026-07-01", "per-turn-control-2026-07-01"})
"""Each allows `output_config` on a system message: the first is of the SDK, the second of Claude Code."""
COMPACT_ON_DEMAND = "compact-2026-09-04"
COMPACT_AT_THRESHOLD = "compact-2026-01-12"
OF_THE_SDK = frozenset(
    """
    admin-user-sign-out-2026-10-08
    advisor-tool-2026-03-01
    agent-memory-2026-07-22
    analytics-usage-cost-2026-08-24
    cache-diagnosis-2026-04-07
    ce-plugins-2026-09-01
    ce-user-management-2026-07-13
    code-execution-2025-05-22
    compact-2026-01-12
    compact-2026-09-04
    computer-use-2024-10-22
    computer-use-2025-01-24
    computer-use-2025-11-24
    context-1m-2025-08-07
    context-management-2025-06-27
    dev-full-thinking-2025-05-14
    dreaming-2026-04-21
    experimental-claude-tag-2026-10-21
    extended-cache-ttl-2025-04-11
    fallback-credit-2026-06-01
    fallback-credit-2026-07-01
    fast-mode-2026-02-01
    files-api-2025-04-14
    inline-tools-2026-09-15
    interleaved-thinking-2025-05-14
    managed-agents-2026-04-01
    mcp-client-2025-04-04
    mcp-client-2025-11-20
    mcp-client-2026-09-15
    mcp-tunnels-2026-06-22
    message-batches-2024-09-24
    message-threads-2026-08-12
    mid-conversation-output-config-2026-07-01
    mid-conversation-system-clear-at-2026-08-21
    mid-conversation-tool-changes-2026-07-01
    model-context-window-exceeded-2025-08-26
    output-128k-2025-02-19
    output-300k-2026-03-24
    pdfs-2024-09-25
    prompt-caching-2024-07-31
    server-side-fallback-2026-06-01
    server-side-fallback-2026-07-01
    skills-2025-10-02
    spend-limit-reads-2026-09-26
    structured-outputs-2025-11-13
    task-budgets-2026-03-13
    telemetry-destinations-2026-08-11
    thinking-binding-controls-2026-08-01
    thinking-display-updates-2026-08-18
    thinking-token-count-2026-05-13
    token-counting-2024-11-01
    token-efficient-tools-2025-02-19
    user-profiles-2026-03-24
    user-profiles-2026-08-18
    user-profiles-2026-09-04
    webhooks-2026-10-07
    """.split()
)
"""The names that the Python SDK lists; a test compares them with the installed one."""
OF_CLIENTS = frozenset(
    """
    advanced-tool-use-2025-11-20
    afk-mode-2026-01-31
    claude-code-20250219
    dangerous-tool-use-2026-09-03
    effort-2025-11-24
    fine-grained-tool-streaming-2025-05-14
    mid-conversation-system-2026-04-07
    oauth-2025-04-20
    per-turn-control-2026-07-01
    prompt-caching-scope-2026-01-05
    redact-thinking-2026-02-12
    structured-outputs-2025-12-15
    """.split()
)
"""Names that the SDK does not list, and that Claude Code sends."""
KNOWN = OF_THE_SDK | OF_CLIENTS


def betas_of(header: str) -> frozenset[str]:
    """Read the header, a list with commas; refuse names that are not known."""
    names = [name.strip() for name in header.split(",")]
    unknown = [name for name in names if name and name not in KNOWN]
    if unknown:
        listed = ", ".join(f"`{name}`" for name in unknown)
        raise RuleBroken(
            f"Unexpected value(s) {listed} for the `anthropic-beta` header. Please consult our documentation at "
            "docs.claude.com or try again without the header."
        )
    return frozenset(names) - {""}
