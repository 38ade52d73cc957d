"""Reads clusters: kubeconfigs, API servers and recorded files in, `ClusterSnapshot` out.

Knows no workload and no question; what it could not read is a `Gap` in the snapshot, never an empty list.
"""
