from octoc.plugin import Embedder
from octoc.testing import EmbedderContract
from octoc_embed_onnx import octoc_make_embedder


class TestMiniLm(EmbedderContract):
    def make_embedder(self) -> Embedder:
        embedder = octoc_make_embedder("minilm-l6", {}, None)
        assert embedder is not None
        return embedder

    def make_from_files(self, embedder: Embedder) -> Embedder:
        again = octoc_make_embedder("minilm-l6", {}, embedder.files())
        assert again is not None
        return again
