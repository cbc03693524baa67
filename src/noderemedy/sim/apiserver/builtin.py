"""The built-in kinds that are served, one row each.

Marks: s status subresource · c scale subresource · g generation · u an update must name the version it
replaces · r deletion returns the object · n created by an update where there was none · d no deletion of
whole collections · p posted only (reviews), never stored.
"""

from __future__ import annotations

from noderemedy.model.ids import Kind
from noderemedy.sim.apiserver.core_shapes import core_shapes
from noderemedy.sim.apiserver.types import ResourceType, ScalePaths, Version

ROWS = """
-                            Binding                          bindings                            N -     p
-                            ConfigMap                        configmaps                          N cm    .
-                            Endpoints                        endpoints                           N ep    n
-                            LimitRange                       limitranges                         N limits n
-                            Namespace                        namespaces                          C ns    sd
-                            Node                             nodes                               C no    s
-                            PersistentVolume                 persistentvolumes                   C pv    sr
-                            PersistentVolumeClaim            persistentvolumeclaims              N pvc   sr
-                            Pod                              pods                                N po    sgr
-                            ReplicationController            replicationcontrollers              N rc    scg
-                            ResourceQuota                    resourcequotas                      N quota sr
-                            Secret                           secrets                             N -     .
-                            Service                          services                            N svc   srn
-                            ServiceAccount                   serviceaccounts                     N sa    r
admissionregistration.k8s.io MutatingWebhookConfiguration     mutatingwebhookconfigurations       C -     gu
admissionregistration.k8s.io ValidatingAdmissionPolicy        validatingadmissionpolicies         C -     sgu
admissionregistration.k8s.io ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings   C -     gu
admissionregistration.k8s.io ValidatingWebhookConfiguration   validatingwebhookconfigurations     C -     gu
apiextensions.k8s.io         CustomResourceDefinition         customresourcedefinitions           C crd,crds sgu
apps                         ControllerRevision               controllerrevisions                 N -     .
apps                         DaemonSet                        daemonsets                          N ds    sg
apps                         Deployment                       deployments                         N deploy scg
apps                         ReplicaSet                       replicasets                         N rs    scg
apps                         StatefulSet                      statefulsets                        N sts   scg
authentication.k8s.io        SelfSubjectReview                selfsubjectreviews                  C -     p
authentication.k8s.io        TokenReview                      tokenreviews                        C -     p
authorization.k8s.io         SelfSubjectAccessReview          selfsubjectaccessreviews            C -     p
authorization.k8s.io         SelfSubjectRulesReview           selfsubjectrulesreviews             C -     p
authorization.k8s.io         SubjectAccessReview              subjectaccessreviews                C -     p
batch                        CronJob                          cronjobs                            N cj    sg
batch                        Job                              jobs                                N -     sg
certificates.k8s.io          CertificateSigningRequest        certificatesigningrequests          C csr   s
coordination.k8s.io          Lease                            leases                              N -     un
discovery.k8s.io             EndpointSlice                    endpointslices                      N -     g
events.k8s.io                Event                            events                              N ev    n
policy                       PodDisruptionBudget              poddisruptionbudgets                N pdb   sgu
rbac.authorization.k8s.io    ClusterRole                      clusterroles                        C -     n
rbac.authorization.k8s.io    ClusterRoleBinding               clusterrolebindings                 C -     n
rbac.authorization.k8s.io    Role                             roles                               N -     n
rbac.authorization.k8s.io    RoleBinding                      rolebindings                        N -     n
scheduling.k8s.io            PriorityClass                    priorityclasses                     C pc    .
storage.k8s.io               CSIDriver                        csidrivers                          C -     gur
storage.k8s.io               CSINode                          csinodes                            C -     ur
storage.k8s.io               StorageClass                     storageclasses                      C sc    r
storage.k8s.io               VolumeAttachment                 volumeattachments                   C -     sur
"""

SUBRESOURCES = {
    Kind("", "Pod"): ("eviction", "binding"),
    Kind("", "Namespace"): ("finalize",),
    Kind("", "ServiceAccount"): ("token",),
    Kind("certificates.k8s.io", "CertificateSigningRequest"): ("approval",),
}
IN_ALL = frozenset(
    (
        "Pod",
        "ReplicationController",
        "Service",
        "DaemonSet",
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "Job",
        "CronJob",
    )
)
EVENT = Kind("events.k8s.io", "Event")
ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


def _row(text: str) -> ResourceType:
    group, kind_name, plural, scope, short, marks = text.split()
    kind = Kind("" if group == "-" else group, kind_name)
    return _resource(kind, plural, scope == "N", () if short == "-" else tuple(short.split(",")), marks)


def _resource(kind: Kind, plural: str, namespaced: bool, short: tuple[str, ...], marks: str) -> ResourceType:
    scale = ScalePaths(selector=".spec.selector") if "c" in marks else None
    subresources = (*(("status",) if "s" in marks else ()), *(("scale",) if scale else ()))
    verbs: tuple[str, ...] = ALL_VERBS
    if "p" in marks:
        verbs = ("create",)
    elif "d" in marks:
        verbs = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
    return ResourceType(
        kind=kind,
        plural=plural,
        namespaced=namespaced,
        versions=(Version("v1", core_shapes().of(kind), has_status="s" in marks, scale=scale),),
        storage="v1",
        singular=kind.kind.lower(),
        short_names=short,
        categories=("all",) if kind.kind in IN_ALL else (),
        subresources=(*subresources, *SUBRESOURCES.get(kind, ())),
        verbs=verbs,
        has_generation="g" in marks,
        needs_version_to_update="u" in marks,
        creates_on_update="n" in marks,
        returns_deleted="r" in marks,
    )


def _built_in() -> tuple[ResourceType, ...]:
    rows = [_row(line) for line in ROWS.strip().splitlines()]
    core_event = _resource(Kind("", "Event"), "events", True, ("ev",), "n")
    aliases = [_stored_elsewhere(core_event)]
    return (*rows, *aliases)


def _stored_elsewhere(resource: ResourceType) -> ResourceType:
    """Core events are another view of the events of events.k8s.io."""
    fields = {name: getattr(resource, name) for name in resource.__struct_fields__}
    return ResourceType(**{**fields, "stored_as": EVENT})


BUILT_IN: tuple[ResourceType, ...] = _built_in()
