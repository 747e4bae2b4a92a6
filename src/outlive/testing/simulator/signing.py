"""Thinking is signed when it is sent and checked when it comes back: altered or foreign thinking is noticed."""

import hashlib
import hmac
from base64 import urlsafe_b64encode


class Signer:
    """Signs with a secret made from the API key, so that a simulator accepts what an earlier one signed."""

    def __init__(self, key: str) -> None:
        self._secret = hashlib.sha256(b"outlive simulator:" + key.encode()).digest()

    def sign(self, text: str, nonce: str) -> str:
        """The signature of a piece of thinking; two equal pieces are signed differently."""
        return f"{nonce}.{self._mark(text, nonce)}"

    def valid(self, text: str, signature: str) -> bool:
        nonce, _, mark = signature.partition(".")
        return hmac.compare_digest(mark.encode(), self._mark(text, nonce).encode())

    def _mark(self, text: str, nonce: str) -> str:
        digest = hmac.new(self._secret, f"{nonce}\n{text}".encode(), hashlib.sha256).digest()
        return urlsafe_b64encode(digest).decode()
