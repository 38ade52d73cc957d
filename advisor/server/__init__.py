"""The admission hook and its REST door: the same advice, given by a process that keeps looking at the clusters.

`review` and `reservations` are values in, values out; `store` holds the latest snapshots; `desk` decides one thing at a
time and keeps what it promised; `http` and `serving` are the only parts that know sockets.
"""
