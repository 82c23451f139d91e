"""BERTopic with our estimators in place of its own: topics of texts, their places, new texts, rows without a label."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

import lowdim

bertopic = pytest.importorskip("bertopic")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of BERTopic's dependencies


def texts(n=240, topics=4):
    """Texts of twelve words, nine of them of their topic, and what they are about."""
    rng = np.random.default_rng(0)
    about = np.arange(n) % topics
    own = [[f"topic{topic}word{word}" for word in range(20)] for topic in range(topics)]
    common = [f"word{word}" for word in range(30)]
    return [" ".join([*rng.choice(own[topic], 9), *rng.choice(common, 3)]) for topic in about], about


def reducers():
    settings = {"n_neighbors": 10, "min_dist": 0.0, "metric": "cosine", "random_state": 0}
    return [lowdim.UMAP(5, **settings), lowdim.PCA(5), lowdim.LaplacianEigenmaps(5, n_neighbors=10)]


@pytest.mark.parametrize("reducer", reducers(), ids=lambda model: type(model).__name__)
def test_bertopic_takes_any_estimator(reducer):
    docs, about = texts()
    embeddings = TruncatedSVD(20, random_state=0).fit_transform(TfidfVectorizer().fit_transform(docs))
    model = bertopic.BERTopic(umap_model=reducer, hdbscan_model=KMeans(4, n_init=3, random_state=0))
    found, _ = model.fit_transform(docs[:200], embeddings[:200])
    assert adjusted_rand_score(about[:200], found) > 0.9
    placed, _ = model.transform(docs[200:], embeddings[200:])
    assert adjusted_rand_score(about[200:], placed) > 0.9
    words = {word[:6] for topic in range(4) for word, _ in model.get_topic(topic)[:3]}
    assert words == {"topic0", "topic1", "topic2", "topic3"}


def test_bertopic_hands_on_the_labels_that_are_known():
    docs, about = texts(120)
    embeddings = TruncatedSVD(20, random_state=0).fit_transform(TfidfVectorizer().fit_transform(docs))
    known = np.where(np.arange(120) % 3 == 0, -1, about)
    reducer = lowdim.UMAP(5, n_neighbors=10, min_dist=0.0, random_state=0)
    model = bertopic.BERTopic(umap_model=reducer, hdbscan_model=KMeans(4, n_init=3, random_state=0))
    found, _ = model.fit_transform(docs, embeddings, y=known)
    assert adjusted_rand_score(about, found) > 0.9
