"""What is worked out once per tree, and what that rests on: nobody changes a tree in place."""

from __future__ import annotations

from copy import deepcopy
from functools import partial

from noderemedy import crds
from noderemedy.model.ids import HOST
from noderemedy.sim.apiserver.crd import definition_causes
from noderemedy.sim.apiserver.once import once_per_tree
from noderemedy.sim.apiserver.schema import root_shape
from noderemedy.sim.apiserver.types import Tree
from noderemedy.sim.definitions import definition_of
from noderemedy.sim.run import calm


def counted(asked: list[Tree], tree: Tree) -> int:
    asked.append(tree)
    return len(asked)


def test_the_same_tree_is_worked_out_once() -> None:
    """An equal tree is another tree: it may become another one."""
    asked: list[Tree] = []
    ask = once_per_tree(partial(counted, asked))
    first, second = {"n": 1}, {"n": 1}

    assert [1, 1, 2, 1, 2] == [ask(one) for one in (first, first, second, first, second)]


def test_memory_is_bounded() -> None:
    """A lab that is given new definitions for days does not keep them all."""
    asked: list[Tree] = []
    ask = once_per_tree(partial(counted, asked))
    trees = [{"n": n} for n in range(1000)]

    assert list(range(1, 1001)) == [ask(one) for one in trees]
    assert 1001 == ask(trees[0])


def test_a_changed_definition_has_another_shape() -> None:
    """What was found out about a schema says nothing about its next version."""
    old = definition_of(HOST)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    new = {**old, "properties": {**old["properties"], "more": {"type": "string"}}}

    assert root_shape(old) is root_shape(old)
    assert {"more"} == set(root_shape(new).properties) - set(root_shape(old).properties)


def test_a_schema_that_is_not_structural_is_told_where() -> None:
    """Also when it is asked about twice, and in another place."""
    broken = {"type": "object", "properties": {"spec": {}}}
    versions = [{"name": name, "storage": name == "v1", "schema": {"openAPIV3Schema": broken}} for name in ("v1", "v2")]
    names = {"plural": "things", "kind": "Thing"}
    spec = {"group": "example.dev", "names": names, "scope": "Cluster", "versions": versions}
    tree = {"metadata": {"name": "things.example.dev"}, "spec": spec}
    found = [f"spec.versions[{n}].schema.openAPIV3Schema.properties[spec].type" for n in (0, 1)]

    assert found == [cause.field for cause in definition_causes(tree, None)]
    assert found == [cause.field for cause in definition_causes(tree, None)]


def test_a_cluster_leaves_the_definitions_as_they_are() -> None:
    """All clusters of a process share them."""
    before = deepcopy(crds.every())

    calm(1, 3)

    assert before == crds.every()
