"""Certificates of one API server: its own authority, and what that authority signs.

They are made by the `openssl` command: macOS and nearly every Linux have it (ca-certificates brings it along), it needs
neither Go, which may be absent where KUBEBUILDER_ASSETS holds all programs, nor a Python package, and it takes 10 ms a
certificate. The extensions are complete, because Python 3.13 verifies strictly.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.servers.build import UnavailableError

EXTENSIONS = """\
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = IP:127.0.0.1, DNS:localhost
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""
NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


class Authority:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "openssl.cnf").write_text(EXTENSIONS)
        self.certificate = folder / "ca.crt"
        self._openssl(
            *("req", "-x509", *NEW_KEY, "-keyout", "ca.key", "-out", "ca.crt", "-days", "3650"),
            *("-config", "openssl.cnf", "-extensions", "authority", "-subj", f"/CN=authority of {folder.name}"),
        )

    def issue(self, name: str, subject: str, purpose: str) -> Identity:
        """Signs a new key; `purpose` is `server` or `client`."""
        request, certificate, key = (f"{name}.{suffix}" for suffix in ("csr", "crt", "key"))
        self._openssl(
            *("req", "-new", *NEW_KEY, "-keyout", key, "-out", request, "-config", "openssl.cnf", "-subj", subject)
        )
        self._openssl(
            *("x509", "-req", "-in", request, "-out", certificate, "-days", "3650"),
            *("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-extfile", "openssl.cnf", "-extensions", purpose),
        )
        return Identity(self._folder / certificate, self._folder / key)

    def _openssl(self, *arguments: str) -> None:
        openssl = shutil.which("openssl")
        if openssl is None:
            raise UnavailableError("the certificates of the test servers need the openssl command")
        subprocess.run([openssl, *arguments], cwd=self._folder, check=True, capture_output=True)
