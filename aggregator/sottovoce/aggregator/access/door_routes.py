"""The doors by which staff comes in, beside keys and links: those that the settings open have routes, others none."""

from flask import Flask, Response, render_template
from sottovoce.aggregator.access.institution import check_passkeys, provider_of
from sottovoce.aggregator.access.sign_in_errors import SignInRefused
from sottovoce.aggregator.clock import Clock
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.web import problems


def register_doors(app: Flask, settings: Settings, clock: Clock) -> None:
    """
    Open the doors that the settings name.

    Args:
        app: gets their routes.
        settings: name them, and the institution.
        clock: the present moment.

    Raises:
        SettingError: what a door needs is missing.
    """
    app.config["OPEN_DOORS"] = settings.open_doors
    if "oidc" in settings.open_doors:
        from sottovoce.aggregator.access import oidc_routes

        app.extensions["provider"] = provider_of(settings, clock)
        app.register_blueprint(oidc_routes.blueprint)
    if "passkey" in settings.open_doors:
        check_passkeys(settings)
        from sottovoce.aggregator.access import passkey_routes

        app.register_blueprint(passkey_routes.blueprint)
    app.register_error_handler(SignInRefused, _not_signed_in)


def _not_signed_in(refused: SignInRefused) -> Response:
    reply = Response(render_template("not_signed_in.html", sentence=str(refused)), problems.STATUS[refused.code])
    if reply.status_code == problems.STATUS["unauthorized"]:
        reply.headers.extend(problems.CHALLENGE)
    return reply
