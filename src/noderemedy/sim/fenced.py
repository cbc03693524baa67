"""A cluster whose nodes can be fenced: devices, and the configuration as people write it.

Five sorts of nodes in turns (BMC, two outlets of PDUs, the same behind a fabric switch, cloud, BareMetalHost), and four
ways in which a fence comes about: a health check with a template, a threshold that fences, a threshold with a chain of
remedies, and people only. Where agents run as Jobs, shared disks take the place of every second port of the switch, and
of a node without one: their agent lets a node in on that node only, and cuts it off from another one; a part of what
pods have is on other volumes.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from noderemedy.model.agent import AgentAction, AgentDescription, Parameter, Sort
from noderemedy.model.ids import CONFIG_MAP, HEALTH_CHECK, HOST, MACHINE, NODE, Kind
from noderemedy.model.time import Span
from noderemedy.sim.cluster import Cluster, host_of, machine_of, node_names
from noderemedy.sim.objects import NAMESPACE, SYSTEM, health_check
from noderemedy.sim.outlets import Outlet
from noderemedy.sim.outlets import Sort as Switches
from noderemedy.wire import names

SECRET, VOLUME = Kind("", "Secret"), Kind("", "PersistentVolume")
PASSWORD = "correct-horse-battery-staple"  # noqa: S105  of simulated devices; it must turn up nowhere
USER = "fencer"
DEVICES = ("bmc", "pdu", "fabric", "cloud", "host")
ON_DISKS = ("pdu", "fabric")  # what shared disks take the place of: two nodes at least, as they fence each other
PLUGGED = ("pdu", "fabric", "disks")  # what hangs on two PDUs
SHARED, LOCAL = "shared", "local"  # classes of volumes: on the disks that nodes share, and on others
VOLUMES = ("data", "log")
CHECK = "fenced"  # the name of its health check
TRIGGERS = ("check", "threshold", "chain", "person")
CREDENTIALS = ("username", "password")
TEMPLATE = Kind("node-remedy.dev", "FenceRemediationTemplate")


def described(name: str, *parameters: str, reboots: bool = True, on_target: bool = False) -> AgentDescription:
    known = [Parameter("action"), *map(Parameter, parameters), Parameter("lanplus", Sort.BOOLEAN)]
    others = ("off", "status", "monitor", "metadata", *(["reboot"] if reboots else []))
    actions = (AgentAction("on", on_target), *map(AgentAction, others))
    return AgentDescription(name, parameters=tuple(known), actions=actions)


AGENTS = (
    described("fence_ipmilan", "ip", *CREDENTIALS),
    described("fence_apc", "ip", "plug", *CREDENTIALS),
    described("fence_brocade", "ip", "plug", *CREDENTIALS, reboots=False),
    described("fence_aws", "plug", "region", "access_key", "secret_key"),
    described("fence_scsi", "plug", "key", "devices", reboots=False, on_target=True),
)
LOGIN = "username=secret:devices/username\npassword=secret:devices/password\n"
TEMPLATES = {
    "ipmi": f"agent=fence_ipmilan\nlanplus=1\n{LOGIN}",
    "apc": f"agent=fence_apc\n{LOGIN}",
    "brocade": f"agent=fence_brocade\nip=switch-1.example\n{LOGIN}",
    "scsi": f"agent=fence_scsi\ndevices=/dev/disk/by-id/wwn-0x5001405000000001\ncovers=storageClass/{SHARED}\n",
    "aws": "agent=fence_aws\naccess_key=secret:devices/username\nsecret_key=secret:devices/password\n",
}
# What `config.properties` says, and the methods, by the sort of the node.
DUMP_WITHIN = Span(4 * 60_000)
STEPS = "isolation={}\npower_management={}\nrecovery={}\n" + f"kdump=true\nkdump_timeout={DUMP_WITHIN}\n"
CORDON, UNCORDON = "mark-unschedulable", "mark-schedulable"
PDUS = ("pdu-a.example", "pdu-b.example")
PLUGS = {
    "left": "template=fence-method-template-apc\nip=pdu-a.example\nplug={number}\n",
    "right": "template=fence-method-template-apc\nip=pdu-b.example\nplug={number}\n",
}
CONFIGS: dict[str, tuple[str, dict[str, str]]] = {
    "pdu": (
        STEPS.format(CORDON, "left right", UNCORDON),
        PLUGS,
    ),
    "fabric": (
        STEPS.format(f"{CORDON} fc-off", "left right", f"fc-on {UNCORDON}"),
        {
            "fc-off": "template=fence-method-template-brocade\nplug={number}\naction=off\ncovers=driver/sim.example\n",
            "fc-on": "template=fence-method-template-brocade\nplug={number}\naction=on\n",
            **PLUGS,
        },
    ),
    "disks": (
        STEPS.format(f"{CORDON} disks-off", "left right", f"disks-on {UNCORDON}"),
        {
            "disks-off": "template=fence-method-template-scsi\nplug={node}\nkey=a{number}\naction=off\n",
            "disks-on": "template=fence-method-template-scsi\nplug={node}\nkey=a{number}\naction=on\n",
            **PLUGS,
        },
    ),
    "host": (STEPS.format(CORDON, "host-power", UNCORDON), {}),
}
SET = (
    f"node_selector=device=bmc\n{STEPS.format(CORDON, 'ipmi', UNCORDON)}",
    {"ipmi": "template=fence-method-template-ipmi\nip={node}.bmc.example\n"},
)
FENCES = """
apiVersion: node-remedy/v1alpha
kind: Configuration
nodeSelector: trigger=threshold
policy: {skipWhenUnresponsive: 60%, skipWhenNodeCondition: NetworkUnavailable}
thresholdConfigs:
- nodeConditionType: Ready
  nodeConditionStatus: [false, unknown]
  nodeConditionPeriod: 1m
  remedy1: [{name: fence}, {period: 2m}]
remedyConfigs:
- {name: fence, nodeFence: {}}
"""
CHAIN = """
apiVersion: node-remedy/v1alpha
kind: Configuration
nodeSelector: trigger=chain
thresholdConfigs:
- nodeConditionType: Ready
  nodeConditionStatus: [false, unknown]
  nodeConditionPeriod: 1m
  remedy1: [{name: reset}, {period: 3m}, {clean-resource: true}]
  remedy2: [{name: fence}, {period: 5m}]
  recovery: {name: tidy}
remedyConfigs:
- name: reset
  podTemplate: {spec: {restartPolicy: Never, containers: [{name: reset, image: registry.example/reset:1}]}}
- name: tidy
  podTemplate: {spec: {restartPolicy: Never, containers: [{name: tidy, image: registry.example/tidy:1}]}}
- {name: fence, nodeFence: {}}
"""
LOOK = ("registry.example/reset:1", "registry.example/look:1"), (", {clean-resource: true}", "")  # it mends nothing
STRICT = """policy: {oneAtATime: true}
parkAfter: {count: 2, within: 1h}
"""
BY_PODS = "freeBy: pods\n"


class Fenced:
    """The devices and documents of one cluster."""

    def __init__(
        self,
        cluster: Cluster,
        triggers: tuple[str, ...] = TRIGGERS,
        *,
        is_strict: bool = False,
        free_by: str = "",
        disks: int | None = None,
        strategy: str = "alert",
    ) -> None:
        self.cluster = cluster
        self.disks = disks  # every second five nodes have shared disks, from the first (0) or second (1)
        self.free_by = free_by  # as the template of its health check says; "": nothing
        self.strategy = strategy  # of the same template, when fencing does not help
        self.triggers = triggers
        self.is_strict = is_strict  # its chains run one at a time, not for ever, and free pod by pod
        self.documents = ["fences", "chain"]
        self.nodes = list(cluster.servers)
        self.numbers = {name: str(index + 1) for index, name in enumerate(self.nodes)}  # of their outlets
        outlets = cluster.outlets
        outlets.password = PASSWORD
        outlets.agents = {one.name: one for one in AGENTS}
        if disks is not None:
            self._share()
        for index, name in enumerate(self.nodes):
            self._place(index, name)
            self._wire(index, name)
        self.write_secret()
        for name, text in TEMPLATES.items():
            self._write(f"fence-method-template-{name}", {"template.properties": text})
        self._write("fence-config-set", config(*SET, "", ""))
        self.write_documents()
        self._write_check()

    def device(self, node: str) -> str:
        if node not in self.numbers:
            return "bmc"  # an instance of a pool
        index = self.nodes.index(node)
        device = device_of(index)
        is_its_turn = self.disks is not None and index // len(DEVICES) % 2 == self.disks
        return "disks" if is_its_turn and device in ON_DISKS else device

    def trigger(self, node: str) -> str:
        return self.triggers[self.nodes.index(node) // len(DEVICES) % len(self.triggers)]

    def outlets(self, node: str) -> list[Outlet]:
        return self.cluster.outlets.by_node.get(node, [])

    def has_current(self, node: str) -> bool:
        """Whether a server that is off would run if somebody pressed its button: nothing keeps it from current."""
        sources = [one for one in self.outlets(node) if one.sort is Switches.POWER and one.is_own_state]
        return self.device(node) != "host" and (not sources or any(one.is_on for one in sources))

    # --- the world -----------------------------------------------------------------------------------------------

    def _place(self, index: int, node: str) -> None:
        """Labels, and what of Cluster API the node has: all of it, a Machine alone, or nothing."""
        cluster, labels = self.cluster, self.labels_of(node)
        cluster.api.patch(NODE, node, "", {"metadata": {"labels": labels}}, "merge")
        if labels["device"] == "host":
            self.label_machine(node)
            return
        cluster.api.delete(HOST, host_of(node), NAMESPACE)
        if labels["trigger"] == "check" or index % 2:
            self.label_machine(node)
        else:
            cluster.delete_machine(node)

    def labels_of(self, node: str) -> dict[str, str]:
        return {"device": self.device(node), "trigger": self.trigger(node)}

    def label_machine(self, node: str) -> None:
        """What it is, and which host it has, if any."""
        labels = self.labels_of(node)
        notes: dict[str, str | None] = {} if labels["device"] == "host" else {names.MACHINE_HOST: None}
        spec = {"providerID": self.cluster.servers[node].provider_id}
        body = {"metadata": {"labels": labels, "annotations": notes}, "spec": spec}
        self.cluster.api.patch(MACHINE, machine_of(node), NAMESPACE, body, "merge")

    def _share(self) -> None:
        """Every second pod has its log on a volume that is not on the shared disks: behind them it writes on."""
        for tree in self.cluster.api.list(VOLUME):
            name = tree["metadata"]["name"]
            shelf = LOCAL if name.startswith("log") and int(name.rpartition("-")[2]) % 2 else SHARED
            self.cluster.api.patch(VOLUME, name, "", {"spec": {"storageClassName": shelf}}, "merge")

    def _local(self) -> frozenset[str]:
        volumes = self.cluster.api.list(VOLUME)
        return frozenset(one["metadata"]["name"] for one in volumes if one["spec"]["storageClassName"] == LOCAL)

    def _wire(self, index: int, node: str) -> None:
        outlets, server, number = self.cluster.outlets, self.cluster.servers[node], str(index + 1)
        match self.device(node):
            case "bmc":
                outlets.add(server, Switches.POWER, is_own_state=False, ip=f"{node}.bmc.example")
            case "pdu" | "fabric" | "disks":
                for pdu in PDUS:
                    outlets.add(server, Switches.POWER, ip=pdu, plug=number)
            case "cloud":
                outlets.add(server, Switches.POWER, is_own_state=False, plug=f"i-{node}")
        if self.device(node) == "fabric":
            outlets.add(server, Switches.FABRIC, ip="switch-1.example", plug=number)
        if self.device(node) == "disks":
            outlets.add(server, Switches.DISKS, plug=node)
            server.out_of_reach = self._local()
        self.write_config(node)

    def move(self, node: str) -> None:
        """Somebody moves both cables of a node to free outlets, and writes that into its document."""
        self.numbers[node] = str(len(self.nodes) + int(self.numbers[node]))
        for pdu in PDUS:
            self.cluster.outlets.replug(self.cluster.servers[node], ip=pdu, plug=self.numbers[node])
        self.write_config(node)

    # --- what people write ---------------------------------------------------------------------------------------

    def write_config(self, node: str, number: str = "") -> None:
        """The document of one node, as it should be; or with the outlet of another one."""
        if self.device(node) in CONFIGS:
            number = number or self.numbers[node]
            self._write(f"fence-config-{node}", config(*CONFIGS[self.device(node)], node, number))

    def leave_out(self, node: str) -> None:
        """The document of a node on outlets without what switches one of them on again, or lets it in: whoever took it
        for whole would leave that off.
        """
        properties, methods = CONFIGS[self.device(node)]
        half = methods | {"left": f"{methods['left']}action=off\n"}
        data = config(properties.replace(f"fc-on {UNCORDON}", UNCORDON), half, node, self.numbers[node])
        self._write(f"fence-config-{node}", data)

    def write_documents(self, *, only_looks: bool = False) -> None:
        """The Configurations, as they should be; or with a first remedy that looks, and says so by cleaning nothing."""
        fences, chain = (FENCES + BY_PODS, CHAIN + STRICT + BY_PODS) if self.is_strict else (FENCES, CHAIN)
        for old, new in LOOK if only_looks else ():
            chain = chain.replace(old, new)
        for name, text in zip(self.documents, (fences, chain), strict=True):
            self._write(name, {"config.yaml": text}, {"node-remedy.dev/configuration": "remedy"})

    def write_secret(self, password: str = PASSWORD) -> None:
        values = {"username": USER, "password": password}
        data = {key: b64encode(value.encode()).decode() for key, value in values.items()}
        self._put(SECRET, {"metadata": {"name": "devices", "namespace": SYSTEM}, "data": data})

    def _write(self, name: str, data: dict[str, str], labels: dict[str, str] | None = None) -> None:
        metadata = {"name": name, "namespace": SYSTEM, "labels": labels or {}}
        self._put(CONFIG_MAP, {"metadata": metadata, "data": data})

    def _put(self, kind: Kind, tree: dict[str, Any]) -> None:
        tree = {"apiVersion": "v1", "kind": kind.kind, **tree}
        if self.cluster.api.find(kind, tree["metadata"]["name"], SYSTEM) is None:
            self.cluster.api.create(tree)
        else:
            self.cluster.api.update(tree)

    def _write_check(self) -> None:
        reference = {"apiVersion": "node-remedy.dev/v1alpha1", "kind": TEMPLATE.kind}
        metadata = {"name": "fence", "namespace": NAMESPACE}
        freeing = {"freeBy": self.free_by} if self.free_by else {}
        spec = {"template": {"spec": {"strategy": self.strategy, "maxRestarts": 1, **freeing}}}
        self.cluster.api.create({**reference, "metadata": metadata, "spec": spec})
        check = health_check(CHECK, "100%")
        check["spec"]["selector"]["matchLabels"] = {"trigger": "check"}
        for criterion in check["spec"]["unhealthyConditions"]:
            criterion["timeout"] = f"{self.cluster.durations.mark_after}ms"
        check["spec"]["externalRemediationTemplate"] = {**reference, "name": "fence", "namespace": NAMESPACE}
        self.cluster.api.create(check)
        assert self.cluster.api.find(HEALTH_CHECK, CHECK, NAMESPACE) is not None


def fenced_cluster(nodes: int, seed: int, volumes: tuple[str, ...] = VOLUMES[:1]) -> Cluster:
    """A cluster in which every fifth node is an instance of a cloud."""
    clouded = [name for index, name in enumerate(node_names(nodes)) if device_of(index) == "cloud"]
    ids = {name: f"aws:///eu-west-1a/i-{name}" for name in clouded}
    return Cluster(
        nodes=nodes, seed=seed, replicas=min(nodes, 10), provider_ids=ids, tracks_fields=False, volumes=volumes
    )


def device_of(index: int) -> str:
    """In another order for every five nodes: every fifth node is reserved for what is never scheduled there."""
    return DEVICES[(index + index // len(DEVICES)) % len(DEVICES)]


def config(properties: str, methods: dict[str, str], node: str, number: str) -> dict[str, str]:
    filled = {
        f"fence-method-{name}": text.replace("{number}", number).replace("{node}", node or "{node}")
        for name, text in methods.items()
    }
    first = f"node_name={node}\n" if node else ""
    return {"config.properties": first + properties, **filled}
