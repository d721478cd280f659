"""Sign in by passkey, and manage the passkeys of the signed-in account.

These are the only pages that need a script, which calls the browser's WebAuthn API.
"""

import hashlib
from functools import partial

from flask import current_app, g, redirect, render_template, request, url_for
from sottovoce.aggregator.accounts import authentication, passkeys
from sottovoce.aggregator.accounts.authentication import new_cookie, storage
from sottovoce.aggregator.accounts.passkeys import CHALLENGE_SECONDS, Answer, Site
from sottovoce.aggregator.accounts.sign_in_errors import SignInRefused
from sottovoce.aggregator.clock import DAY, date_of
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import AccessRefused
from sottovoce.aggregator.storage.accounts.passkeys import Passkey, PasskeyUse
from sottovoce.aggregator.studio.request_context import refusal_message, static_file, words
from werkzeug.wrappers import Response as BaseResponse

MOST_LABEL = 60


def offer() -> str:
    """Show the sign-in page, which asks the browser for any passkey of this site."""
    return render_template("passkey_sign_in.html", question=passkeys.question_for_sign_in(_site(), _new_challenge()))


def sign_in() -> BaseResponse:
    """Verify the passkey's answer to the challenge and begin a session."""
    answer = _answer()
    passkey = storage().access.passkey(answer.credential_id)
    if passkey is None:
        raise SignInRefused(passkeys.UNKNOWN)
    # Verify the signature before any write, so that strangers cannot cause writes.
    sign_count = passkeys.verify_sign_in(_site(), passkey, answer)
    used = hashlib.sha256(answer.challenge).digest()
    use = PasskeyUse(passkey.credential_id, sign_count, used, authentication.now() + CHALLENGE_SECONDS)
    cookie, session = new_cookie()
    if storage().access.start_session_by_passkey(session, use, authentication.now()) is None:
        raise SignInRefused(passkeys.UNKNOWN)
    return authentication.with_cookie(redirect(authentication.redirect_target(request.args.get("next", ""))), cookie)


def add() -> BaseResponse | tuple[str, int]:
    """Add the passkey that the device has just made to the signed-in account."""
    label = request.form.get("label", "").strip()[:MOST_LABEL] or "passkey"
    try:
        new = passkeys.verify_registration(_site(), _answer())
        today = authentication.now() // DAY
        storage().access.by(g.who).add_passkey(Passkey(new.credential_id, g.actor.account.id, *new[1:], label, today))
    except (SignInRefused, AccessRefused) as refused:
        sentence = (
            refusal_message(refused) if isinstance(refused, AccessRefused) else words().in_this_language(str(refused))
        )
        return own(sentence), 422
    return redirect(url_for("passkeys.own"))


def remove() -> BaseResponse:
    """Remove a passkey of the signed-in account."""
    try:
        credential_id = bytes.fromhex(request.form.get("passkey", ""))
    except ValueError:
        return problems.response("malformed")
    storage().access.by(g.who).remove_passkey(g.actor.account.id, credential_id)
    return redirect(url_for("passkeys.own"))


def own(refused: str = "") -> str:
    """Show the passkeys of the signed-in account, and how to add one."""
    account = g.actor.account
    known = storage().access.passkeys(account.id)
    ids = [passkey.credential_id for passkey in known]
    question = passkeys.question_for_registration(_site(), _new_challenge(), account.id, account.name, ids)
    return render_template("passkeys.html", passkeys=known, question=question, refused=refused, as_date=date_of)


def _answer() -> Answer:
    """Parse the browser's answer; raise SignInRefused if it is malformed, or its challenge unknown here or too old."""
    answer = passkeys.parse_answer(request.form.get("answer", ""))
    passkeys.check_challenge(_challenge_key(), answer.challenge, authentication.now())
    return answer


def _new_challenge() -> bytes:
    return passkeys.new_challenge(_challenge_key(), authentication.now())


def _challenge_key() -> bytes:
    return storage().access.challenge_key(passkeys.new_challenge_key())


def _site() -> Site:
    return passkeys.site_of(current_app.extensions["settings"].url)


ROUTES = (
    Route("passkeys.script", "GET", "/dashboard/passkey.js", partial(static_file, "passkey.js"),
          "Serve the script of both passkey pages."),
    Route("passkeys.offer", "GET", "/dashboard/passkey", offer, "Show the page that asks for a passkey of this site."),
    Route("passkeys.sign_in", "POST", "/dashboard/passkey", sign_in,
          "Sign in with a passkey that signed the page's challenge."),
    Route("passkeys.own", "GET", "/dashboard/passkeys", own, "Show your own passkeys, and how to add one."),
    Route("passkeys.add", "POST", "/dashboard/passkeys", add, "Add the passkey that your device has just created."),
    Route("passkeys.remove", "POST", "/dashboard/passkeys/remove", remove, "Remove one of your passkeys."),
)  # fmt: skip
"""Routes of passkeys."""
