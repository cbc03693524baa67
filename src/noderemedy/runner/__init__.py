"""The program inside a fence Job: carries out one order, if it is still wanted. Standard library and msgspec only."""
