"""Signatures of thinking, to detect thinking that was altered or made elsewhere."""

import hashlib
import hmac
from base64 import urlsafe_b64encode


class Signer:
    """Signs with a secret derived from the API key, so that signatures of an earlier simulator stay valid."""

    def __init__(self, key: str) -> None:
        self._secret = hashlib.sha256(b"outlive simulator:" + key.encode()).digest()

    def sign(self, text: str, nonce: str) -> str:
        """Sign a piece of thinking; the nonce makes signatures of equal pieces differ."""
        return f"{nonce}.{self._mark(text, nonce)}"

    def valid(self, text: str, signature: str) -> bool:
        nonce, _, mark = signature.partition(".")
        return hmac.compare_digest(mark.encode(), self._mark(text, nonce).encode())

    def _mark(self, text: str, nonce: str) -> str:
        digest = hmac.new(self._secret, f"{nonce}\n{text}".encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(digest).decode()
