"""A device that keeps one passkey, in software, and can be made to lie."""

import hashlib
import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field, replace
from typing import Any, Self

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


@dataclass(frozen=True)
class SoftwareAuthenticator:
    """What it says; ``sign_count`` is how often it was used, ``flags`` that the person was present and verified."""

    origin: str
    host: str
    flags: int = PRESENT | VERIFIED
    credential_id: bytes = b"the name of a passkey"
    holder: bytes | None = None
    sign_count: int = 0
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def but(self, **changed: Any) -> Self:
        return replace(self, **changed)

    def made(self, challenge: bytes) -> str:
        """The answer of a browser in which it was just made."""
        name = len(self.credential_id).to_bytes(2) + self.credential_id
        told = self._told(ATTESTED) + bytes(16) + name + self._public_key()
        statement = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": told})
        return self._answer(clientDataJSON=self._page("webauthn.create", challenge), attestationObject=statement)

    def signed(self, challenge: bytes) -> str:
        page, told = self._page("webauthn.get", challenge), self._told()
        signature = self.key.sign(told + hashlib.sha256(page).digest(), ec.ECDSA(SHA256()))
        holder = {} if self.holder is None else {"userHandle": self.holder}
        return self._answer(clientDataJSON=page, authenticatorData=told, signature=signature, **holder)

    def _page(self, kind: str, challenge: bytes) -> bytes:
        return json.dumps({"type": kind, "challenge": base64_of(challenge), "origin": self.origin}).encode()

    def _told(self, more: int = 0) -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + bytes([self.flags | more]) + self.sign_count.to_bytes(4)

    def _public_key(self) -> bytes:
        numbers = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)})

    def _answer(self, **response: bytes) -> str:
        name = base64_of(self.credential_id)
        told = {key: base64_of(value) for key, value in response.items()}
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": told})


def base64_of(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
