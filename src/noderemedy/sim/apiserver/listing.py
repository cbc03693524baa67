"""Lists: selection, pages that show one moment, and the versions a reader may ask for."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_left
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from noderemedy.sim.apiserver import errors
from noderemedy.sim.apiserver.errors import ApiError
from noderemedy.sim.apiserver.events import shown
from noderemedy.sim.apiserver.selectors import Predicate, both, field_predicate, label_predicate
from noderemedy.sim.apiserver.store import Store
from noderemedy.sim.apiserver.types import Key, ResourceType, Tree

Query = Mapping[str, str]
TOO_OLD_TO_CONTINUE = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list "
    "without the continue parameter, or use the continue token in this response to retrieve the remainder of "
    "the results. Continuing with the provided token results in an inconsistent list - objects that were "
    "created, modified, or deleted between the time the first chunk was returned and now may show up in the list."
)
LIST_OPTIONS = {"group": "meta.k8s.io", "kind": "ListOptions"}


class Token(Struct):
    """Where the next page begins, and which moment it shows (-1: whatever is there then)."""

    revision: int
    start: str


class Found(Struct):
    """One page of a list."""

    items: list[Tree]
    revision: int
    token: str = ""
    remaining: int | None = None


class Lists:
    """Answers lists from the store, now or in its remembered past."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def predicate(self, resource: ResourceType, labels: str, fields: str) -> Predicate | None:
        """What the two selectors together let through."""
        return both(label_predicate(labels), field_predicate(resource.kind, fields))

    def current(self, resource: ResourceType, namespace: str, labels: str = "", fields: str = "") -> list[Tree]:
        """Everything that matches now, in the order of lists."""
        predicate = self.predicate(resource, labels, fields)
        collection = self.store.collection(resource.stored_kind)
        objects = collection.objects
        keys = collection.sorted_keys()
        if namespace:
            keys = [key for key in keys if key[0] == namespace]
        if predicate is None:
            return [shown(resource, objects[key]) for key in keys]
        found = [shown(resource, objects[key]) for key in keys]
        return [tree for tree in found if predicate(tree)]

    def page(self, resource: ResourceType, namespace: str, query: Query) -> Found:
        """One page, as the query asks for it."""
        check_options(query)
        limit = self._limit(query)
        token = decode_token(query["continue"]) if query.get("continue") else None
        revision = self._moment(query, token, limit)
        try:
            state = self._state(resource, revision)
        except ApiError as error:
            raise self._expired(error, token) from None
        predicate = self.predicate(resource, query.get("labelSelector", ""), query.get("fieldSelector", ""))
        keys = sorted((_sort_key(key), key) for key in state if not namespace or key[0] == namespace)
        first = bisect_left(keys, (token.start,)) if token else 0
        shows = revision if revision >= 0 else self.store.revision
        return _cut(resource, state, keys[first:], predicate, limit, shows)

    def _limit(self, query: Query) -> int:
        try:
            limit = int(query.get("limit") or 0)
        except ValueError:
            raise errors.bad_request(f'strconv.ParseInt: parsing "{query["limit"]}": invalid syntax') from None
        return 0 if query.get("resourceVersion") == "0" else max(limit, 0)

    def _moment(self, query: Query, token: Token | None, limit: int) -> int:
        """The revision to show; -1 is now."""
        asked, match = parse_revision(query.get("resourceVersion", "")), query.get("resourceVersionMatch", "")
        if token is not None:
            if asked not in (-1, 0):
                raise errors.bad_request("specifying resource version is not allowed when using continue")
            return token.revision
        if asked in (-1, 0):
            return -1
        if asked > self.store.revision:
            raise errors.too_large(asked, self.store.revision)
        return asked if match == "Exact" or (not match and limit) else -1

    def _state(self, resource: ResourceType, revision: int) -> dict[Key, Tree]:
        if revision < 0 or revision == self.store.revision:
            return self.store.collection(resource.stored_kind).objects
        return self.store.state_at(resource.stored_kind, revision)

    def _expired(self, error: ApiError, token: Token | None) -> ApiError:
        """The page's moment is forgotten; a client may go on from the same place without one moment."""
        if token is None:
            return error
        found = errors.expired(TOO_OLD_TO_CONTINUE)
        found.continue_token = encode_token(Token(-1, token.start))
        return found


def _cut(
    resource: ResourceType,
    state: dict[Key, Tree],
    keys: list[tuple[str, Key]],
    predicate: Predicate | None,
    limit: int,
    revision: int,
) -> Found:
    found = Found([], revision)
    for index, (_, key) in enumerate(keys):
        tree = shown(resource, state[key])
        if predicate is not None and not predicate(tree):
            continue
        if limit and len(found.items) == limit:
            found.token = encode_token(Token(revision, keys[index][0]))
            if predicate is None:
                found.remaining = len(keys) - index
            break
        found.items.append(tree)
    return found


def _sort_key(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def parse_revision(text: str) -> int:
    """A resourceVersion of a query; -1 if there is none."""
    if not text:
        return -1
    if not text.isdigit():
        why = f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": invalid syntax'
        raise ApiError(500, "", why)
    return int(text)


def check_options(query: Query) -> None:
    """Combinations that make no sense are refused."""
    match = query.get("resourceVersionMatch", "")
    if "sendInitialEvents" in query:
        _refuse_options("sendInitialEvents is forbidden for list", "sendInitialEvents")
    if not match:
        return
    if not query.get("resourceVersion"):
        _refuse_options("resourceVersionMatch is forbidden unless resourceVersion is provided")
    if query.get("continue"):
        _refuse_options("resourceVersionMatch is forbidden when continue is provided")
    if match == "Exact" and query.get("resourceVersion") == "0":
        _refuse_options('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')


def _refuse_options(why: str, field: str = "resourceVersionMatch") -> None:
    cause = errors.field_forbidden(field, why)
    message = f'ListOptions.meta.k8s.io "" is invalid: {field}: Forbidden: {why}'
    raise ApiError(422, "Invalid", message, {**LIST_OPTIONS, "causes": [cause.tree()]})


def encode_token(token: Token) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def decode_token(text: str) -> Token:
    try:
        raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        return msgspec.json.decode(raw, type=Token)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        raise errors.bad_request("continue key is not valid: it was not made by this server") from None
