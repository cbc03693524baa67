"""The cluster-wide budget: how many repairs may begin, where and when. It joins every source of repairs."""
