"""The whole product against real API servers, and its verdicts against the real kube-scheduler's deeds."""
