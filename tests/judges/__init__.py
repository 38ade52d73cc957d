"""Real controllers as judges: the pods that they make of a manifest are what our extraction says.

`make test-controllers` runs some manifests of each kind, `make test-controllers ALL=1` all of them. A manifest is
created in a namespace of its own under the controller of its kind (`controllers/`), a stand-in for the kubelet lets its
pods start, and every pod is then held against the role that it belongs to (`compare`).
"""
