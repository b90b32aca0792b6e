"""A provider of OpenID Connect: django-oauth-toolkit, in a process of its own.

Usage: python -m server.provider FOLDER PORT BACK

Two people log in there with their names as passwords; BACK is the address to come back to.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

CLIENT, SECRET = "sfumato-review", "a secret that both keep"
PEOPLE = ("anna", "boris")

_LOGIN = """<form method="post">{% csrf_token %}{{ form }}
<input type="hidden" name="next" value="{{ next }}"><button>Log in</button></form>"""


class Quiet(WSGIRequestHandler):
    """Requests are not printed."""

    def log_message(self, *_args: object) -> None:
        """Nothing."""


def main(folder: Path, port: int, back: str) -> None:
    """Serve until the process is ended."""
    import django
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.conf import settings
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application

    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # it listens to this machine alone
    templates = folder / "templates" / "registration"
    templates.mkdir(parents=True)
    (templates / "login.html").write_text(_LOGIN)
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    settings.configure(
        SECRET_KEY="of the tests",
        ALLOWED_HOSTS=["localhost"],
        ROOT_URLCONF="server.provider_urls",
        DATABASES={
            "default": {"ENGINE": "django.db.backends.sqlite3", "NAME": str(folder / "people")}
        },
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "DIRS": [str(folder / "templates")],
                "APP_DIRS": True,
            }
        ],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        LOGIN_URL="/login",
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_ISS_ENDPOINT": f"http://localhost:{port}/o",
            "OIDC_RSA_PRIVATE_KEY": pem,
            "SCOPES": {"openid": "who", "profile": "name"},
            "PKCE_REQUIRED": True,
        },
    )
    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    from django.contrib.auth import get_user_model
    from oauth2_provider.models import get_application_model

    for name in PEOPLE:
        get_user_model().objects.create_user(name, password=name)
    get_application_model().objects.create(
        client_id=CLIENT,
        client_secret=SECRET,
        client_type="confidential",
        authorization_grant_type="authorization-code",
        redirect_uris=back,
        algorithm="RS256",
        skip_authorization=True,
    )
    server = make_server("localhost", port, get_wsgi_application(), handler_class=Quiet)
    server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
