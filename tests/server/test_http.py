"""The doors of a real process over TLS: paths, bodies, limits, certificates, and how it ends."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from os import kill
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from advisor.server.connections import AT_ONCE
from tests.render import schemas
from tests.server.asking import Object, body
from tests.server.conftest import DEMO
from tests.server.served import Served

TRAIN = (DEMO / "train.yaml").read_text()
Serve = Callable[..., Served]


def gang(name: str = "llama", pods: int = 2) -> Object:
    limits = {"nvidia.com/gpu": 4, "cpu": "8"}
    container = {"name": "main", "image": "example/train", "resources": {"limits": limits}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "research"},
        "spec": {"parallelism": pods, "completions": pods, "template": template},
    }


# -- what it answers --------------------------------------------------------------------------------------------------


def test_a_review_is_answered_and_its_room_is_held(serve: Serve) -> None:
    server = serve()
    found = server.review(body("CREATE", gang()))
    assert found["allowed"]
    assert found["warnings"][0].startswith("wm-place: fits eu-h200 (8 nvidia.com/gpu on ")
    assert server.cluster("eu-h200")["holds"] == {"objects": 1, "pods": 2}
    server.review(body("DELETE", None, gang()))
    assert server.held() == 0


def test_the_path_says_whether_a_no_refuses(server: Served) -> None:
    asked = body("CREATE", gang(pods=99))
    assert server.review(asked, "advise")["allowed"] is True
    refused = server.review(asked, "enforce")
    assert (refused["allowed"], refused["status"]["code"]) == (False, 403)


def test_a_manifest_gets_the_report_of_the_command_line(server: Served) -> None:
    answer = server.post("/v1/place", TRAIN, "application/yaml")
    report = schemas.check(answer.json())
    assert answer.status == 200
    assert report["workloads"][0]["choice"]["cluster"] == "eu-h200"
    assert report["exitCode"] == 0
    assert server.held() == 0


def test_a_manifest_is_placed_beside_what_is_promised(serve: Serve) -> None:
    server = serve()
    assert server.review(body("CREATE", gang(pods=4)))["allowed"]
    report = server.post("/v1/place", TRAIN, "application/yaml").json()
    assert report["workloads"][0]["choice"] is None


def test_the_namespace_of_a_manifest_may_be_said_beside_it(server: Served) -> None:
    unplaced = gang()
    del unplaced["metadata"]["namespace"]
    report = server.post("/v1/place?namespace=research", json.dumps(unplaced)).json()
    assert report["workloads"][0]["namespace"] == "research"


def test_clusters_are_shown_with_their_age(server: Served) -> None:
    row = server.cluster("us-h100")
    assert (row["usable"], row["nodes"], row["gaps"], row["failure"]) == (True, 7, [], None)
    assert row["ageSeconds"] >= 0


def test_a_cluster_that_cannot_be_read_says_why(serve: Serve, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text("{")
    good = {"name": "eu-h200", "snapshot": str(DEMO / "eu-h200.json")}
    server = serve([good, {"name": "broken", "snapshot": str(tmp_path / "broken.json")}])
    row = server.cluster("broken")
    assert (row["usable"], row["ageSeconds"], row["nodes"]) == (False, None, None)
    assert row["failure"]["what"] == "cluster"
    told = server.review(body("CREATE", gang()))["warnings"]
    assert told[0].startswith("wm-place: fits eu-h200")
    assert told[1].startswith("wm-place: broken not judged")


def test_it_is_not_ready_without_any_cluster(serve: Serve, tmp_path: Path) -> None:
    gone = [{"name": "gone", "snapshot": str(tmp_path / "gone.json")}]
    server = serve(gone, ready=False)
    server.until(lambda: server.cluster("gone")["failure"] is not None)
    assert (server.get("/readyz").status, server.get("/healthz").status) == (503, 200)
    assert server.get("/readyz").data == b"no cluster could be read"


def test_metrics_can_be_read_by_prometheus(server: Served) -> None:
    server.review(body("CREATE", gang(), dryRun=True))
    families = {family.name for family in text_string_to_metric_families(server.get("/metrics").data.decode())}
    assert families >= {
        "wm_place_decisions",
        "wm_place_decision_duration_seconds",
        "wm_place_snapshot_age_seconds",
        "wm_place_assumed_placements",
        "wm_place_requests",
        "wm_place_request_duration_seconds",
        "wm_place_requests_in_flight",
        "wm_place_certificate_reloads",
        "wm_place_cluster_failing",
    }


def test_a_review_leaves_one_line_that_keeps_secrets(server: Served) -> None:
    secret = gang("secretive")
    secret["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "hunter2"}]
    server.review(body("CREATE", secret, uid="17", dryRun=True))
    (line,) = [line for line in server.lines() if line.get("uid") == "17"]
    assert (line["name"], line["decision"], line["cluster"], line["dryRun"]) == ("secretive", "fits", "eu-h200", True)
    assert "hunter2" not in server.process.log.read_text()


def test_a_line_is_no_longer_than_what_names_an_object(server: Served) -> None:
    server.review(body("CREATE", gang(), uid="18" + "u" * 1_000_000, name="n" * 1_000_000, dryRun=True))
    (line,) = [line for line in server.lines() if line.get("uid", "").startswith("18u")]
    assert line["name"] == "n" * 297 + "..."
    assert len(json.dumps(line)) < 2000


# -- what it refuses --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "media", "sent", "status"),
    [
        ("GET", "/nowhere", "", "", 404),
        ("GET", "/v1/review/advise", "", "", 405),
        ("DELETE", "/v1/clusters", "", "", 405),
        ("POST", "/v1/review/advise", "text/plain", "{}", 415),
        ("POST", "/v1/review/advise", "", "{}", 415),
        ("POST", "/v1/review/advise", "application/json", "", 400),
        ("POST", "/v1/review/advise", "application/json", "{", 400),
        ("POST", "/v1/review/advise", "application/json", "{}", 400),
        ("POST", "/v1/review/advise", "application/json", "[" * 200_000, 400),
        ("POST", "/v1/review/advise", "application/json", '{"a": NaN}', 400),
        ("POST", "/v1/review/advise", "application/json", '{"a": 1e999}', 400),
        ("POST", "/v1/review/advise", "application/json", json.dumps(body("PATCH", gang())), 400),
        ("POST", "/v1/place", "application/x-www-form-urlencoded", TRAIN, 415),
        ("POST", "/v1/place", "application/yaml", "a: b: c", 400),
        ("POST", "/v1/place", "application/yaml", "", 400),
        ("POST", "/v1/place", "application/yaml", "\0", 400),
        ("POST", "/v1/place", "application/yaml", "{apiVersion: v1, kind: ConfigMap}", 400),
        ("POST", "/v1/place", "application/json", json.dumps({**gang(), "spec": {"parallelism": "x"}}), 400),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(
    server: Served, method: str, path: str, media: str, sent: str, status: int
) -> None:
    answer = server.http.request(method, path, body=sent.encode(), headers={"Content-Type": media} if media else {})
    assert answer.status == status
    assert answer.json()["kind"] == "Error"
    assert answer.json()["message"]


def test_all_faults_of_a_manifest_are_told_with_their_lines(server: Served) -> None:
    broken = TRAIN.replace("nvidia.com/gpu: 4", "nvidia.com/gpu: many")
    answer = server.post("/v1/place", broken, "application/yaml")
    assert answer.status == 400
    faults = answer.json()["faults"]
    assert len(faults) == 2
    assert all(fault["line"] and fault["path"] for fault in faults)


@pytest.mark.parametrize("path", ["/v1/review/advise", "/v1/place"])
def test_what_is_too_large_is_refused(server: Served, path: str) -> None:
    assert server.post(path, b" " * 20_000_000).status == 413


# -- certificates -----------------------------------------------------------------------------------------------------


def presented(server: Served) -> str:
    return ssl.get_server_certificate(("127.0.0.1", server.port))


def test_a_new_certificate_is_used_without_dropping_a_connection(serve: Serve) -> None:
    server = serve()
    before = presented(server)
    fresh = server.authority.issue("fresh", "/CN=wm-place", "server")
    server.identity.key.write_bytes(fresh.key.read_bytes())
    server.identity.certificate.write_bytes(fresh.certificate.read_bytes())
    server.until(lambda: presented(server) != before)
    assert presented(server).strip() in fresh.certificate.read_text()
    assert server.get("/healthz").status == 200
    assert server.http.num_connections == 1


EC, RSA = ["ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"], ["rsa:2048"]


@pytest.mark.parametrize("types", [[EC, RSA, EC], [RSA, EC, RSA]])
def test_a_new_certificate_may_have_another_type_of_key(serve: Serve, types: list[list[str]]) -> None:
    server = serve()
    for one in types:
        expected = renewed(server, one)
        server.until(partial(serves, server, expected))


def renewed(server: Served, key: list[str], *, ended: bool = False) -> str:
    """A new pair in place of the old one: its certificate."""
    made = {path: path.with_name(f"new-{path.name}") for path in (server.identity.key, server.identity.certificate)}
    files = ["-keyout", str(made[server.identity.key]), "-out", str(made[server.identity.certificate])]
    command = ["openssl", "req", "-x509", "-nodes", "-subj", "/CN=fresh", "-newkey", *key, *files]
    subprocess.run(command, check=True, capture_output=True)
    if ended:
        key_file, certificate = map(str, made.values())
        again = ["openssl", "x509", "-in", certificate, "-signkey", key_file, "-days", "0", "-out", certificate]
        subprocess.run(again, check=True, capture_output=True)
    for path, new in made.items():
        new.replace(path)
    return server.identity.certificate.read_text()


def serves(server: Served, certificate: str) -> bool:
    return presented(server).strip() == certificate.strip()


def test_with_a_certificate_that_has_ended_it_is_not_ready(serve: Serve) -> None:
    """Asked on a connection from before: no new one would come about."""
    server = serve()
    assert server.get("/readyz").status == 200
    renewed(server, EC, ended=True)
    server.until(lambda: server.get("/readyz").status == 503)
    assert server.get("/readyz").data.startswith(b"the certificate has ended at ")
    renewed(server, EC)
    server.until(lambda: server.get("/readyz").status == 200)
    assert server.http.num_connections == 1


def test_half_of_a_new_pair_changes_nothing(serve: Serve) -> None:
    server = serve()
    before = presented(server)
    server.identity.key.write_bytes(server.authority.issue("fresh", "/CN=wm-place", "server").key.read_bytes())
    server.until(lambda: any(line["event"] == "certificate" for line in server.lines()))
    assert presented(server) == before
    assert server.review(body("CREATE", gang()))["allowed"]


def test_connections_that_say_nothing_keep_nobody_out(serve: Serve) -> None:
    server = serve()
    context = ssl.create_default_context(cafile=str(server.authority.certificate))
    silent = [
        context.wrap_socket(socket.create_connection(("127.0.0.1", server.port)), server_hostname="127.0.0.1")
        for _ in range(AT_ONCE + 10)
    ]
    with server.connect() as fresh:
        assert fresh.request("GET", "/healthz").status == 200
        assert not server.review(body("CREATE", gang(pods=99)), "enforce")["allowed"]
    for one in silent:
        one.close()


# -- the end ----------------------------------------------------------------------------------------------------------


def test_told_to_end_it_finishes_what_it_has_begun(serve: Serve) -> None:
    server = serve()
    sent = json.dumps(body("CREATE", gang())).encode()
    context = ssl.create_default_context(cafile=str(server.authority.certificate))
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=30)
    connection.putrequest("POST", "/v1/review/advise")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(len(sent)))
    connection.endheaders(sent[:100])
    served = server.get("/metrics").data.decode()
    server.until(lambda: "in_flight 2.0" in served or "in_flight 2.0" in server.get("/metrics").data.decode())
    kill(server.process.pid, signal.SIGTERM)
    connection.send(sent[100:])
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["response"]["allowed"]) == (200, True)
    connection.close()
    server.http.close()
    assert server.process.wait() == 0
    assert server.lines()[-1]["event"] == "ended"


def test_an_idle_connection_does_not_keep_it(serve: Serve) -> None:
    server = serve()
    context = ssl.create_default_context(cafile=str(server.authority.certificate))
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=30)
    connection.request("GET", "/healthz")
    assert connection.getresponse().read() == b"ok"
    kill(server.process.pid, signal.SIGTERM)
    assert server.process.wait() == 0
    assert not any("timeout" in line["event"] for line in server.lines())
    assert server.lines()[-1]["event"] == "ended"
    connection.close()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kind: ServerConfig", "server.yaml:1 apiVersion: is missing"),
        (
            "apiVersion: wm-place/v1\nkind: ServerConfig\nrefesh: 1s",
            "server.yaml:3 refesh: is not known here\n    did you mean refresh",
        ),
    ],
)
def test_a_bad_configuration_is_said_before_anything_is_served(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "server.yaml").write_text(text)
    command = [sys.executable, "-m", "advisor", "serve", "--config", "server.yaml"]
    root = str(Path(__file__).parents[2])
    done = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert said in done.stderr
