"""What a simulated process needs of the world around it: a whole cluster, or a management cluster with its fleet."""

from __future__ import annotations

from typing import Protocol

from noderemedy.sim.agenda import Agenda
from noderemedy.sim.apiserver import ApiServer
from noderemedy.sim.decoding import Decoding
from noderemedy.sim.fleet import WorkloadCluster
from noderemedy.sim.outlets import Outlets


class World(Protocol):
    """The API that the process is a client of, its time, and the clusters that are managed from there."""

    agenda: Agenda
    api: ApiServer
    decoding: Decoding
    outlets: Outlets  # fence devices; most worlds have none
    workloads: dict[str, WorkloadCluster]
