"""Reasoning and summaries in encrypted form: what the simulator issued itself, and the item that it belongs to."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

import msgspec

from outlive.testing.simulator.anthropic.signing import Signer
from outlive.testing.simulator.tokens import compact
from outlive.testing.simulator.verdict import RuleBroken

OPENING = "gAAAA"
COMPACTION = "compaction"


class Sealed(msgspec.Struct):
    """What is inside of encrypted content."""

    id: str
    text: str
    next: str
    """The type of the item that followed; of a call, and its id: `function_call:call_1`. Or `compaction`."""

    def fits(self, following: dict[str, Any] | None) -> bool:
        """Whether an item is the one that followed; a call that was sent without an id may have any."""
        kind = following.get("type", "message") if following else None
        if not following or kind not in ("function_call", "custom_tool_call"):
            return kind == self.next
        return self.next in (f"{kind}:{following['call_id']}", f"{kind}:")


class Sealer:
    """Makes and reads encrypted content. It is not secret, but it cannot be made elsewhere."""

    def __init__(self, signer: Signer) -> None:
        self._signer = signer

    def seal(self, sealed: Sealed) -> str:
        payload = urlsafe_b64encode(compact(sealed)).decode()
        return f"{self._signer.sign(payload, OPENING)}.{payload}"

    def check(self, item: dict[str, Any], following: dict[str, Any] | None) -> None:
        """Refuse reasoning that was made elsewhere, was changed, or was moved."""
        sealed = self._verified(item["encrypted_content"], summary=False)
        if sealed.id != item["id"]:
            raise _unverified(
                item["encrypted_content"], "Encrypted content item_id did not match the target item id."
            )
        if not sealed.fits(following):
            raise RuleBroken(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
                param="input",
            )

    def check_summary(self, item: dict[str, Any]) -> None:
        """Refuse a compaction item that was made elsewhere or was changed. Its id is not checked."""
        self._verified(item["encrypted_content"], summary=True)

    def _verified(self, content: str, *, summary: bool) -> Sealed:
        signature, _, payload = content.rpartition(".")
        if payload and self._signer.valid(payload, signature):
            sealed = _opened(payload)
            if (sealed.next == COMPACTION) == summary:
                return sealed
        raise _unverified(content, "Encrypted content could not be decrypted or parsed.")


def _unverified(content: str, reason: str) -> RuleBroken:
    shown = f"The encrypted content {content[:4]}...{content[-4:]} could not be verified."
    return RuleBroken(f"{shown} Reason: {reason}", code="invalid_encrypted_content")


def hidden_text(content: str) -> str:
    """Return the text inside of encrypted content, for the count of tokens."""
    return _opened(content.rpartition(".")[2]).text if content else ""


def _opened(payload: str) -> Sealed:
    return msgspec.json.decode(urlsafe_b64decode(payload), type=Sealed)
