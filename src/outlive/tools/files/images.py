"""Images for the model. A damaged one would make every later request fail, so it is not sent."""

import base64
import struct

from outlive.messages import Image

MAX_IMAGE_BYTES = 5 * 2**20 * 3 // 4
"""Bytes; providers accept 5 MB after base64 encoding."""
MAX_SIDE_PIXELS = 8000
"""Pixels on a side."""


def media_type(head: bytes) -> str:
    """The media type by the first bytes of a file; empty if it is not an image."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return ""


def problem(raw: bytes, kind: str) -> str:
    """Why a provider would refuse the image, or nothing."""
    if len(raw) > MAX_IMAGE_BYTES:
        return f"is larger than the {MAX_IMAGE_BYTES:,} bytes that can be shown"
    whole = {
        "image/png": raw.endswith(b"IEND\xaeB`\x82") and len(raw) > 40,
        "image/jpeg": b"\xff\xd9" in raw[-64:],
        "image/gif": raw.rstrip(b"\0").endswith(b";"),
        "image/webp": len(raw) >= 30 and int.from_bytes(raw[4:8], "little") + 8 <= len(raw),
    }[kind]
    if not whole:
        return "is cut off or damaged"
    if kind == "image/png":
        width, height = struct.unpack(">II", raw[16:24])
        if not 0 < max(width, height) <= MAX_SIDE_PIXELS or not min(width, height):
            return f"is {width}×{height} pixels, a side may have 1 to {MAX_SIDE_PIXELS}"
    return ""


def image(raw: bytes, kind: str) -> Image:
    return Image(kind, base64.b64encode(raw).decode())
