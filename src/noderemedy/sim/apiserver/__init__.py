"""A simulated Kubernetes API server: pure Python, synchronous, deterministic. See `server.py`."""

from noderemedy.sim.apiserver.builtin import BUILT_IN
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.less import LESS_THAN_REAL
from noderemedy.sim.apiserver.server import ApiServer
from noderemedy.sim.apiserver.types import ADMIN, Page, ResourceType, Subscription, Tree, User, WatchEvent

__all__ = [
    "ADMIN",
    "BUILT_IN",
    "LESS_THAN_REAL",
    "ApiError",
    "ApiServer",
    "Page",
    "ResourceType",
    "Subscription",
    "Tree",
    "User",
    "WatchEvent",
]
