"""Real etcd and Kubernetes servers for the tests: built or found, started, loaded, judged by, ended."""
