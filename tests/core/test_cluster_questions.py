"""Clusters that people decide: kept together, written and read."""

import pytest

from sfumato.core.cluster_questions import CLUSTERS, ClusterQuestions
from sfumato.core.errors import InputError

QUESTIONS = ClusterQuestions((("p4", "p2"), ("p9", "p8", "p7")))


def test_pairs_of_a_cluster_stand_together_where_the_first_of_them_does():
    order = ["p1", "p2", "p7", "p3", "p4", "p9"]
    assert QUESTIONS.together(order) == ["p1", "p4", "p2", "p9", "p7", "p3"]
    assert ClusterQuestions().together(order) == order


def test_they_come_back_from_a_file(tmp_path):
    path = tmp_path / CLUSTERS
    assert ClusterQuestions.read(path) == ClusterQuestions()
    QUESTIONS.write(path)
    assert ClusterQuestions.read(path) == QUESTIONS


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"clusters": 3}', '{"clusters": [["p1"], ["p1"]]}']
)
def test_another_file_is_refused(tmp_path, text):
    path = tmp_path / CLUSTERS
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="sfumato link next"):
        ClusterQuestions.read(path)
