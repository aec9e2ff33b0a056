"""Serves a model of random weights with a chat template, as llama.cpp does. Ends with its input.

Arguments: the file of the template. Prints the address. The words of the model mean nothing: callers ask
`/apply-template`, which reads a request as `/v1/chat/completions` does, and answers with the refusals of the template.
"""

import sys
import tempfile

import gguf
import numpy
import xllamacpp

EMBEDDING, FEED_FORWARD = 32, 64
SPECIAL = [(b"<unk>", gguf.TokenType.UNKNOWN), (b"<s>", gguf.TokenType.CONTROL), (b"</s>", gguf.TokenType.CONTROL)]
TOKENS = SPECIAL + [(f"<0x{byte:02X}>".encode(), gguf.TokenType.BYTE) for byte in range(256)]


def write_model(path):
    """Writes the smallest model of the Llama architecture: one layer, and a token for each byte."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(4096)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(1)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(EMBEDDING // 2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([token for token, _ in TOKENS])
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types([kind for _, kind in TOKENS])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    random = numpy.random.default_rng(1)
    square, vocabulary = (EMBEDDING, EMBEDDING), (len(TOKENS), EMBEDDING)
    shapes = {
        "token_embd": vocabulary,
        "output": vocabulary,
        "output_norm": (EMBEDDING,),
        "blk.0.attn_norm": (EMBEDDING,),
        "blk.0.ffn_norm": (EMBEDDING,),
        "blk.0.attn_q": square,
        "blk.0.attn_k": square,
        "blk.0.attn_v": square,
        "blk.0.attn_output": square,
        "blk.0.ffn_gate": (FEED_FORWARD, EMBEDDING),
        "blk.0.ffn_up": (FEED_FORWARD, EMBEDDING),
        "blk.0.ffn_down": (EMBEDDING, FEED_FORWARD),
    }
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.1, shape).astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


with tempfile.NamedTemporaryFile(suffix=".gguf") as model, open(sys.argv[1]) as template:
    write_model(model.name)
    params = xllamacpp.CommonParams()
    params.model.path = model.name
    params.chat_template = template.read()
    params.use_jinja = True
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
