"""Signatures of thinking, to detect thinking that was altered or made elsewhere."""

import hashlib
import hmac
from base64 import urlsafe_b64encode


class Signer:
    """Signs with a secret derived from the API key, so that signatures of an earlier simulator stay valid.

    A signature is `nonce.mark`, or `nonce.record.mark` where the record says what the thinking is bound to.
    """

    def __init__(self, key: str) -> None:
        self._secret = hashlib.sha256(b"outlive simulator:" + key.encode()).digest()

    def sign(self, text: str, nonce: str, record: str = "") -> str:
        """Sign a piece of thinking; the nonce makes signatures of equal pieces differ."""
        signed = f"{nonce}.{record}" if record else nonce
        return f"{signed}.{self._mark(text, signed)}"

    def valid(self, text: str, signature: str) -> bool:
        signed, _, mark = signature.rpartition(".")
        return hmac.compare_digest(mark.encode(), self._mark(text, signed).encode())

    def _mark(self, text: str, signed: str) -> str:
        digest = hmac.new(self._secret, f"{signed}\n{text}".encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(digest).decode()


def record_of(signature: str) -> str:
    """Return the record inside a signature; empty if it has none."""
    parts = signature.split(".")
    return parts[1] if len(parts) == 3 else ""
