"""The error of tool calls."""

from outlive.errors import OutliveError


class ToolError(OutliveError):
    """A call that cannot be done; the message tells the model what is wrong."""
