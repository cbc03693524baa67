"""Template in, request out (seed 004, "Instantiate the template"): the template's words, the Machine's name.

Called when everything else has passed. Name, namespace, owner and origin are ours: a template cannot make a request
for another machine than the sick one. What makes an object this very object (uid, version, finalizers, owners) never
comes out of a template, since only its labels, annotations and fields were read.
"""

from __future__ import annotations

from noderemedy.model.actions import CreateRequest
from noderemedy.model.ids import Kind, Ref
from noderemedy.model.machine import Machine
from noderemedy.model.request import Template


def instantiate(kind: Kind, at: Ref, machine: Machine, template_at: Ref, template: Template) -> CreateRequest:
    """The request of this kind for this machine."""
    assert isinstance(template.body, str), "a template that cannot be read makes no request"
    return CreateRequest(
        ref=request_at(kind, at),
        owner=at,
        owner_uid=machine.uid,
        template=template_at,
        body=template.body,
        cluster_name=machine.cluster_name,
        labels=template.labels,
        annotations=template.annotations,
    )


def request_at(kind: Kind, machine: Ref) -> Ref:
    """The one place where the request for a machine can be: two of one kind cannot exist (seed 004)."""
    return Ref(machine.cluster, kind, machine.namespace, machine.name)
