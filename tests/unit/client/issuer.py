"""A pretended aggregator that signs blinded ids and takes reports with signatures.

Its moduli are primes, so that anybody can work out the exponent that signs: fit for tests and for nothing else.
"""

from gmpy2 import powmod
from sottovoce.client.transport import Transport
from sottovoce.shared.blind_signatures import EXPONENT, verify
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import Redemption, dump_reply, message, parse_request, read_number, spell_modulus
from sottovoce.shared.report import parse_report

from tests.documents import question, survey as document
from tests.unit.client.fakes import Reply, Session, acknowledge

ORIGIN = "https://a.example"
INVITATION = "0123456789ABCDEF"
MODULI = (2**2047 + 1919, 2**2047 + 2111, 2**3071 + 2291)
"""Primes; half of all draws are not below the first two."""

ANSWERS = {"q": "yes"}
MONTHS = [{"opens": f"2026-0{month}-01T00:00:00Z", "closes": f"2026-0{month + 1}-01T00:00:00Z"} for month in (1, 2)]


def blind_survey(moduli=MODULI[:1], mechanism=None, **more):
    if len(moduli) > 1:
        more["waves"] = MONTHS[: len(moduli)]
    access = {"blind": [spell_modulus(modulus) for modulus in moduli]}
    return parse_survey(document(question(mechanism or {"name": "coin_flip"}), access=access, **more))


def sign(sent, modulus):
    """The signature of a blinded id, as a number of so many bytes; Python's own power takes seven times as long."""
    return int(powmod(int.from_bytes(sent), pow(EXPONENT, -1, modulus - 1), modulus)).to_bytes(len(sent))


class Issuer:
    """Redeems each invitation once, and admits a report if its id is signed for its wave."""

    def __init__(self, survey, moduli=None):
        self.seen, self.admitted, self.redeemed, self.connections = [], {}, {}, 0
        self.survey, self.moduli = survey, moduli or survey.moduli
        self.transport = Transport(ORIGIN, self.connect(), lambda _: None, fresh=self.connect)

    def connect(self):
        """A session; whatever is asked with it shares a connection."""
        self.connections += 1
        return _Connection(self, self.connections)

    def paths(self):
        return [path.rpartition("/")[2] for _, path, _, _ in self.seen]

    def answer(self, path, headers, body):
        if path.endswith("/redeem"):
            return self.redeem(parse_request(body))
        if path.endswith("/reports"):
            return self.admit(headers, body)
        return Reply(404, {"code": "not_found"})

    def redeem(self, request):
        if self.redeemed.setdefault(request.invitation, request.blinded) != request.blinded:
            return Reply(409, {"code": "already_redeemed"})
        signed = tuple(map(sign, request.blinded, self.moduli))
        return Reply(content=dump_reply(Redemption(self.survey.name, signed)))

    def admit(self, headers, body):
        report = parse_report(body)
        modulus = self.moduli[report.wave]
        scheme, _, signature = headers.get("Authorization", " ").partition(" ")
        signed = message(modulus, bytes.fromhex(report.report_id))
        if report.report_id not in self.admitted and not (
            scheme == "Blind" and verify(signed, read_number(signature), modulus)
        ):
            return Reply(401, {"code": "token_invalid"})
        self.admitted[report.report_id] = body
        return acknowledge(body)


class _Connection(Session):
    def __init__(self, issuer, number):
        super().__init__()
        self.headers = {}
        self._issuer, self._number = issuer, number

    def request(self, _method, url, **options):
        path, headers, body = url.removeprefix(ORIGIN), {**self.headers, **options["headers"]}, options.get("data")
        self._issuer.seen.append((self._number, path, headers, body))
        return self._issuer.answer(path, headers, body)

    def close(self):
        """Nothing is held."""
