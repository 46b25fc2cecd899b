"""What a GraphQL query costs and how many nodes it may return, as GitHub documents it.

Both follow from the `first` and `last` arguments alone, as if every connection were full.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    InlineFragmentNode,
    OperationDefinitionNode,
    get_named_type,
    value_from_ast_untyped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graphql import DocumentNode, GraphQLSchema, SelectionSetNode

MAX_NODES = 500_000
"""A query that may return more is refused."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """Price of a query before it is run."""

    requests: int
    """Requests needed to fill every connection."""
    nodes: int
    """Most nodes of all connections together."""

    @property
    def points(self) -> int:
        """A hundredth of the requests, rounded half up, at least 1."""
        return max((self.requests + 50) // 100, 1)


def price(
    schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any] | None = None
) -> Price:
    """Compute the price of a valid document with one operation."""
    operation = next(
        definition
        for definition in document.definitions
        if isinstance(definition, OperationDefinitionNode)
    )
    values = {
        definition.variable.name.value: value_from_ast_untyped(definition.default_value)
        for definition in operation.variable_definitions or ()
        if definition.default_value is not None
    }
    counter = _Counter(
        schema=schema,
        variables={**values, **(variables or {})},
        fragments={
            definition.name.value: definition
            for definition in document.definitions
            if isinstance(definition, FragmentDefinitionNode)
        },
    )
    root = schema.get_root_type(operation.operation)
    sizes = list(counter.connections(operation.selection_set, root, 1))
    return Price(
        requests=sum(parents for parents, _ in sizes),
        nodes=sum(parents * size for parents, size in sizes),
    )


@dataclass(frozen=True, kw_only=True)
class _Counter:
    """Walks a query with the variables it was sent with."""

    schema: GraphQLSchema
    variables: Mapping[str, Any]
    fragments: Mapping[str, FragmentDefinitionNode]

    def connections(
        self, selected: SelectionSetNode | None, parent: Any, parents: int
    ) -> Iterator[tuple[int, int]]:
        """How many parents each connection has, and how many nodes it returns for each."""
        for selection in selected.selections if selected else ():
            if isinstance(selection, FieldNode):
                yield from self._field(selection, parent, parents)
            elif isinstance(selection, InlineFragmentNode):
                kind = selection.type_condition
                inner = self.schema.type_map[kind.name.value] if kind else parent
                yield from self.connections(selection.selection_set, inner, parents)
            elif isinstance(selection, FragmentSpreadNode):
                named = self.fragments[selection.name.value]
                inner = self.schema.type_map[named.type_condition.name.value]
                yield from self.connections(named.selection_set, inner, parents)

    def _field(self, field: FieldNode, parent: Any, parents: int) -> Iterator[tuple[int, int]]:
        definition = getattr(parent, "fields", {}).get(field.name.value)
        if definition is None:  # __typename, and fields of the introspection
            return
        kind = get_named_type(definition.type)
        values = {
            argument.name.value: value_from_ast_untyped(argument.value, dict(self.variables))
            for argument in field.arguments or ()
        }
        if kind.name.endswith("Connection"):
            size = values.get("first") or values.get("last") or 0
            yield parents, size
            parents *= size
        elif isinstance(values.get("ids"), list):
            parents *= len(values["ids"])
        yield from self.connections(field.selection_set, kind, parents)
