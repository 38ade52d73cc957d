"""The decision: a prepared `Problem` in, an `Outcome` out, exact both ways."""

from advisor.model.build import build, together
from advisor.model.counting import places
from advisor.model.order import any_order
from advisor.model.solve import Search, arrange, largest, place, reduced, whole_part

__all__ = ["Search", "any_order", "arrange", "build", "largest", "place", "places", "reduced", "together", "whole_part"]
