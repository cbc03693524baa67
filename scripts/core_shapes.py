"""Writes the shapes of the built-in kinds for the simulated API server.

Run by hand for a new Kubernetes release: `python scripts/core_shapes.py KUBERNETES_SOURCE API_MODULE
APIMACHINERY_MODULE APIEXTENSIONS_MODULE > src/noderemedy/sim/apiserver/core_shapes.json`. It keeps only
facts of the published API: names of fields, their types, how lists merge, which zero values are not
written, and the numbers of fields in protobuf. Without them the simulated server could neither drop unknown
fields nor merge lists as a real one, nor read what a stock `kubectl create` sends.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

KINDS = {
    "": "Binding ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod "
    "PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
    "admissionregistration.k8s.io": "MutatingWebhookConfiguration ValidatingAdmissionPolicy "
    "ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apps": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "authentication.k8s.io": "SelfSubjectReview TokenRequest TokenReview",
    "authorization.k8s.io": "SelfSubjectAccessReview SubjectAccessReview SelfSubjectRulesReview",
    "autoscaling": "Scale",
    "batch": "CronJob Job",
    "certificates.k8s.io": "CertificateSigningRequest",
    "coordination.k8s.io": "Lease",
    "discovery.k8s.io": "EndpointSlice",
    "events.k8s.io": "Event",
    "policy": "Eviction PodDisruptionBudget",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding Role RoleBinding",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment",
}
SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool": "any",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": "any",
}
STRUCT = re.compile(r"^type (\w+) struct \{$(.*?)^\}$", re.M | re.S)
MESSAGE = re.compile(r"^message (\w+) \{$(.*?)^\}$", re.M | re.S)
NUMBERED = re.compile(r"^\s*(?:optional|repeated|required)?\s*(map<[^>]*>|[.\w]+) (\w+) = (\d+);", re.M)
FIELD = re.compile(r'^\s+(\w+)\s+(\S+)\s+`json:"(\w+),omitempty', re.M)

Json = dict[str, Any]


def vanishing(sources: list[Path]) -> dict[str, set[str]]:
    """For each Go type: the fields whose zero value is left out when an object is written."""
    found: dict[str, set[str]] = {}
    for source in sources:
        package = ".".join(source.parts[-3:-1])
        for struct in STRUCT.finditer(source.read_text()):
            fields = {name for _, kind, name in FIELD.findall(struct[2]) if not kind.startswith("*")}
            found[f"{package}.{struct[1]}"] = fields
    return found


def messages(sources: list[Path]) -> dict[str, dict[str, tuple[str, str]]]:
    """For each protobuf message: the type and the name of every field by its number."""
    found = {}
    for source in sources:
        package = ".".join(source.parts[-3:-1])
        for message in MESSAGE.finditer(source.read_text()):
            fields = NUMBERED.findall(message[2])
            found[f"{package}.{message[1]}"] = {number: (kind, name) for kind, name, number in fields}
    return found


def numbers(name: str, fields: Json, known: dict[str, dict[str, tuple[str, str]]]) -> Json:
    """Field names by number; a message that JSON inlines is itself a table of them."""
    found: Json = {}
    package = name.rpartition(".")[0]
    for number, (kind, field_name) in known.get(name, {}).items():
        if field_name in fields:
            found[number] = field_name
        elif not kind.startswith("map"):
            inline = kind.lstrip(".") if kind.startswith(".") else f"{package}.{kind}"
            found[number] = numbers(short_name(inline), fields, known)
    return found


def field(schema: Json, vanishes: bool) -> Json:
    """One field, in the few words that the simulated server needs."""
    found = value(schema)
    if vanishes:
        found["zero"] = "vanishes"
    if schema.get("x-kubernetes-map-type") == "atomic":
        found["atomic"] = True
    return found


def value(schema: Json) -> Json:
    """The type of a value; references keep their name."""
    if "$ref" in schema or "allOf" in schema:
        name = (schema.get("$ref") or schema["allOf"][0]["$ref"]).removeprefix("#/definitions/")
        return {"type": SCALARS[name]} if name in SCALARS else {"ref": name}
    if schema.get("type") == "array":
        found: Json = {"list": value(schema["items"])}
        found |= {"set": True} if schema.get("x-kubernetes-list-type") == "set" else {}
        if schema.get("x-kubernetes-list-type") == "map":
            found["keys"] = schema["x-kubernetes-list-map-keys"]
        if "merge" in schema.get("x-kubernetes-patch-strategy", ""):
            found["merge"] = schema.get("x-kubernetes-patch-merge-key", "")
        return found
    if "additionalProperties" in schema:
        return {"map": value(schema["additionalProperties"])}
    if schema.get("format") == "byte":
        return {"type": "bytes"}
    return {"type": schema.get("type", "any")}


def shapes(definitions: Json, zero: dict[str, set[str]], roots: list[str]) -> Json:
    """Every definition that the wanted kinds reach."""
    found: Json = {}
    todo = list(roots)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        fields = definitions[name].get("properties", {})
        vanish = zero.get(".".join(name.split(".")[-3:]), set())
        found[name] = {key: field(schema, key in vanish) for key, schema in fields.items()}
        todo += re.findall(r'"ref": "([^"]+)"', json.dumps(found[name]))
    return found


def main(kubernetes: str, api: str, machinery: str, extensions: str) -> None:
    """Print the table, one definition per line so that a new release gives a readable difference."""
    definitions = json.loads(Path(kubernetes, "api/openapi-spec/swagger.json").read_text())["definitions"]
    go = [*Path(api).glob("*/v1/types.go"), Path(machinery, "pkg/apis/meta/v1/types.go")]
    zero = vanishing([*go, Path(extensions, "pkg/apis/apiextensions/v1/types.go")])
    proto = [*Path(api).glob("*/v1/generated.proto"), Path(machinery, "pkg/apis/meta/v1/generated.proto")]
    known = messages([*proto, Path(extensions, "pkg/apis/apiextensions/v1/generated.proto")])
    kinds = {}
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", []):
            if kind["version"] == "v1" and kind["kind"] in KINDS.get(kind["group"], "").split():
                kinds[f"{kind['group']}/{kind['kind']}"] = name
    table = shapes(definitions, zero, list(kinds.values()))
    short = {name: short_name(name) for name in table}
    lines = []
    for name in sorted(table):
        text = json.dumps(table[name], separators=(",", ":"))
        lines.append(f"{json.dumps(short[name])}:{re.sub(REF, lambda m: REF_TO % short[m[1]], text)}")
    head = json.dumps({kind: short[name] for kind, name in sorted(kinds.items())})
    numbered = {short[name]: numbers(short[name], table[name], known) for name in sorted(table)}
    rows = [f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}" for name, row in numbered.items()]
    print('{"kinds":' + head + ',\n"shapes":{\n' + ",\n".join(lines) + "\n},")
    print('"numbers":{\n' + ",\n".join(rows) + "\n}}")


REF = r'"ref":"([^"]+)"'
REF_TO = '"ref":"%s"'


def short_name(name: str) -> str:
    """The last words of a definition's name, enough to tell them apart."""
    return ".".join(name.split(".")[-3:])


if __name__ == "__main__":
    main(*sys.argv[1:])
