"""What-if: edit a question, ask it again, compare. There is no simulation mode: an edited question is a question."""
