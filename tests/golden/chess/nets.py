"""Small networks of every kind in the file format of Leela Chess Zero: a writer of protocol buffers, and
numbers out of a short table, so that the files compress well and every wrong order of numbers shows."""

import struct
import zlib

PERIOD = 4099


def table():
    state, numbers = 12345, []
    for _ in range(PERIOD):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 40) % 255 - 127)
    return numbers


TABLE = table()


def varint(number):
    out = b""
    while True:
        out += bytes([number & 127 | (128 if number > 127 else 0)])
        number >>= 7
        if not number:
            return out


def integer(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def single(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def half_of(x):
    return struct.pack("<e", x)


def bfloat_of(x):
    return struct.pack("<f", x)[2:]


class Writer:
    """Tensors of a network; each begins at another place of the table."""

    def __init__(self, encoding=1):
        self.encoding = encoding
        self.count = 0

    def layer(self, count, scale, offset=0.0):
        self.count += 1
        at = self.count * 577 % PERIOD
        low, high = offset - scale, offset + scale
        codes = [round((k / 127 + 1) / 2 * 65535) for k in TABLE]
        repeats = (at + count) // PERIOD + 1
        low, high = (struct.unpack("<f", struct.pack("<f", x))[0] for x in (low, high))
        if self.encoding == 1:
            one = struct.pack(f"<{PERIOD}H", *codes)
        else:
            numbers = [low * (1 - c / 65535) + high * c / 65535 for c in codes]
            pack = {2: half_of, 3: bfloat_of, 4: lambda x: struct.pack("<f", x)}[self.encoding]
            one = b"".join(map(pack, numbers))
        width = 4 if self.encoding == 4 else 2
        packed = (one * repeats)[at * width : (at + count) * width]
        head = single(1, low) + single(2, high)
        tail = b"" if self.encoding == 1 else integer(4, self.encoding)
        return head + data(3, packed) + tail

    def dense(self, field, inputs, outputs, bias=True):
        """Matrix and vector in `field` and the next one."""
        out = data(field, self.layer(inputs * outputs, (3 / inputs) ** 0.5))
        return out + (data(field + 1, self.layer(outputs, 0.2)) if bias else b"")

    def norm(self, field, size):
        return data(field, self.layer(size, 0.2, 1.0)) + data(field + 1, self.layer(size, 0.1))

    def conv(self, inputs, outputs, side, batch_norm="all"):
        fan = inputs * side * side
        out = data(1, self.layer(fan * outputs, (3 / fan) ** 0.5))
        if batch_norm != "bare":
            out += data(2, self.layer(outputs, 0.1))
        if batch_norm != "none":
            out += data(3, self.layer(outputs, 0.1)) + data(4, self.layer(outputs, 0.3, 0.9))
        if batch_norm == "all":
            out += data(5, self.layer(outputs, 0.2, 1.0)) + data(6, self.layer(outputs, 0.1))
        return out

    def ffn(self, width, inner):
        return self.dense(1, width, inner) + self.dense(3, inner, width)

    def smolgen(self, width, heads, channels, hidden, gen):
        out = self.dense(1, width, channels, bias=False)
        out += self.dense(2, 64 * channels, hidden) + self.norm(4, hidden)
        return out + self.dense(6, hidden, heads * gen) + self.norm(8, heads * gen)

    def encoder(self, width, heads, inner, smolgen=None, d_model=None):
        d_model = d_model or width
        mha = b"".join(self.dense(field, width, d_model) for field in (1, 3, 5))
        mha += self.dense(7, d_model, width)
        if smolgen:
            mha += data(9, self.smolgen(width, heads, *smolgen))
        out = data(1, mha) + self.norm(2, width)
        return out + data(4, self.ffn(width, inner)) + self.norm(5, width)


def net(weights, version=(0, 21, 0), formats=None, encoding=1):
    """The file: formats are fields of network_format, None for files older than it."""
    out = varint(1 << 3 | 5) + struct.pack("<I", 0x1C0) + data(2, b"public domain")
    out += data(3, b"".join(integer(i + 1, v) for i, v in enumerate(version)))
    inner = integer(1, encoding)
    if formats is not None:
        inner += data(2, b"".join(integer(k, v) for k, v in sorted(formats.items())))
    out += data(4, inner) + data(10, weights)
    return gzip(out)


def gzip(data):
    """Without a time, so that the same network is the same file."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return packer.compress(data) + packer.flush()


def tower(w, channels, blocks, se, batch_norm="all"):
    out = data(1, w.conv(112, channels, 3, batch_norm))
    for _ in range(blocks):
        block = b"".join(data(i, w.conv(channels, channels, 3, batch_norm)) for i in (1, 2))
        if se:
            gate = w.dense(1, channels, se) + w.dense(3, se, 2 * channels)
            block += data(3, gate)
        out += data(2, block)
    return out


def conv_value(w, channels, outputs, batch_norm="all"):
    out = data(6, w.conv(channels, 4, 1, batch_norm))
    return out + w.dense(7, 256, 24) + w.dense(9, 24, outputs)


def conv_moves_left(w, channels):
    return data(12, w.conv(channels, 3, 1)) + w.dense(13, 192, 16) + w.dense(15, 16, 1)


def attention_policy(w, width, dim, embedding=True):
    """Fields of the only head."""
    out = w.dense(4, width, dim) if embedding else b""
    return out + w.dense(17, dim, dim) + w.dense(19, dim, dim) + data(22, w.layer(4 * dim, 0.4))


def attention_value(w, width, outputs):
    return w.dense(29, width, 4) + w.dense(7, 256, 24) + w.dense(9, 24, outputs)


def attention_moves_left(w, width):
    return w.dense(31, width, 3) + w.dense(13, 192, 16) + w.dense(15, 16, 1)


def classical(batch_norm="all"):
    w, channels = Writer(), 16
    weights = tower(w, channels, 2, 0, batch_norm)
    weights += data(3, w.conv(channels, 2, 1, batch_norm)) + w.dense(4, 128, 1858)
    return weights + conv_value(w, channels, 1, batch_norm)


def se_convolution():
    w, channels = Writer(), 16
    weights = tower(w, channels, 2, 8, "none")
    weights += data(11, w.conv(channels, channels, 3)) + data(3, w.conv(channels, 80, 3, "none"))
    return weights + conv_value(w, channels, 3) + conv_moves_left(w, channels)


def se_attention(encoders):
    w, channels, dim = Writer(), 16, 24
    weights = tower(w, channels, 1, 8) + attention_policy(w, channels, dim)
    weights += b"".join(data(21, w.encoder(dim, 4, 32)) for _ in range(encoders))
    weights += integer(24, 4) if encoders else b""
    return weights + conv_value(w, channels, 3) + conv_moves_left(w, channels)


def attention(encoding=1, smolgen=(4, 16, 8), gates=True, outputs=3, layers=2, width=32, heads=4):
    w = Writer(encoding)
    weights = w.dense(25, 112 + 64, width)
    if gates:
        weights += data(33, w.layer(width * 64, 0.2, 1.0)) + data(34, w.layer(width * 64, 0.2))
    weights += b"".join(data(27, w.encoder(width, heads, 48, smolgen)) for _ in range(layers))
    weights += integer(28, heads)
    if smolgen:
        weights += w.dense(35, smolgen[2], 4096, bias=False)
    weights += attention_policy(w, width, 24)
    return weights + attention_value(w, width, outputs) + attention_moves_left(w, width)


def large(width, heads, inner, encoders):
    """Of the shape of T82 (768, 24, 1024, 15), whose weights are in no package."""
    w, smolgen = Writer(), (32, 256, 256)
    weights = w.dense(25, 112 + 64, width)
    weights += data(33, w.layer(width * 64, 0.1, 1.0)) + data(34, w.layer(width * 64, 0.1))
    weights += b"".join(data(27, w.encoder(width, heads, inner, smolgen)) for _ in range(encoders))
    weights += integer(28, heads) + w.dense(35, smolgen[2], 4096, bias=False)
    weights += attention_policy(w, width, width)
    weights += w.dense(29, width, 32) + w.dense(7, 2048, 128) + w.dense(9, 128, 3)
    weights += w.dense(31, width, 8) + w.dense(13, 512, 128) + w.dense(15, 128, 1)
    return net(weights, formats=formats(1, 6, 3, 2, 1, default=1, smolgen=7, embedding=1))


def multihead(
    width=32, heads=4, inner=48, encoders=2, dim=24, dense=4, smolgen=(4, 16, 8), first=40, channels=0, hidden=24
):
    """With `channels` over a tower of that many, which takes the place of the view of all pieces."""
    w = Writer()
    if channels:
        weights = tower(w, channels, 2, 8) + w.dense(25, channels, width)
    else:
        weights = w.dense(37, 768, 64 * dense) + w.dense(25, 112 + dense, width)
    weights += w.norm(39, width) + data(41, w.ffn(width, first)) + w.norm(42, width)
    weights += data(33, w.layer(width * 64, 0.2, 1.0)) + data(34, w.layer(width * 64, 0.2))
    weights += b"".join(data(27, w.encoder(width, heads, inner, smolgen)) for _ in range(encoders))
    weights += integer(28, heads) + w.dense(35, smolgen[2], 4096, bias=False)

    def value():
        return w.dense(1, width, 4) + w.dense(3, 256, hidden) + w.dense(5, hidden, 3)

    def policy(own):
        out = w.dense(1, width, dim) if own else b""
        return out + w.dense(3, dim, dim) + w.dense(5, dim, dim) + data(7, w.layer(4 * dim, 0.4))

    values = b"".join(data(field, value()) for field in (1, 2, 3))
    policies = w.dense(1, width, dim)
    policies += b"".join(data(field, policy(False)) for field in (3, 4, 5, 6))
    weights += data(44, values) + data(45, policies)
    return weights + attention_moves_left(w, width)


def larger():
    """Of the shape of BT4, whose weights are in no package either."""
    weights = multihead(1024, 32, 1536, 15, 1024, 512, (32, 256, 256), 1536)
    return net(weights, formats=formats(1, 134, 3, 2, 1, default=1, smolgen=7, embedding=2))


def formats(input, network, policy, value, moves_left, **more):
    """Fields of network_format by number."""
    names = {"default": 7, "smolgen": 8, "ffn": 9, "embedding": 10}
    fields = {1: input, 2: value, 3: network, 4: policy, 5: value, 6: moves_left}
    return fields | {names[name]: number for name, number in more.items()}


def all_nets():
    """File name to file, and the head options that the reference engine is asked with."""
    nets = {
        "classical": net(classical(), formats=formats(1, 3, 1, 1, 0)),
        "oldest": net(classical("bare"), formats=None),
        "se_convolution": net(se_convolution(), formats=formats(2, 4, 2, 2, 1, default=1)),
        "se_attention": net(se_attention(0), formats=formats(3, 4, 3, 2, 1)),
        "policy_encoders": net(se_attention(2), formats=formats(1, 4, 3, 2, 1)),
        "attention": net(
            attention(), formats=formats(1, 6, 3, 2, 1, default=1, smolgen=7, embedding=1)
        ),
        "no_smolgen": net(
            attention(smolgen=None, gates=False, outputs=1),
            formats=formats(132, 6, 3, 1, 1, ffn=8),
        ),
        "no_gates": net(attention(gates=False), formats=formats(4, 6, 3, 2, 1)),
        "tagged_se": net(attention(gates=False), formats=formats(5, 4, 3, 2, 1)),
        # Heads as wide as those of large networks: 32 and 64.
        "heads_of_32": net(
            attention(width=96, heads=3), formats=formats(1, 6, 3, 2, 1, smolgen=7, embedding=1)
        ),
        "heads_of_64": net(
            attention(width=128, heads=2, gates=False), formats=formats(1, 6, 3, 2, 1)
        ),
        # Biases of whole boards as large networks make them.
        "whole_boards": net(
            attention(width=256, heads=8, smolgen=(32, 256, 256)),
            formats=formats(1, 6, 3, 2, 1, default=1, smolgen=7, embedding=1),
        ),
        "multihead": net(
            multihead(),
            formats=formats(133, 134, 3, 2, 1, default=1, ffn=1, smolgen=7, embedding=2),
        ),
    }
    for number, name in enumerate(["relu", "none", "tanh", "sigmoid", "selu", "swish"], 2):
        smolgen = 2 + (number + 1) % 7
        nets[f"ffn_{name}"] = net(
            attention(gates=False, layers=1),
            formats=formats(1, 6, 3, 2, 1, default=number % 2, ffn=number, smolgen=smolgen),
        )
    return nets


def hybrid(se, smolgen, gates, wdl, moves_left, policy_encoders=0, width=32, heads=4, channels=16):
    """Encoders over what convolutions say. The converter of the reference engine wants 128 numbers in the value head."""
    w = Writer()
    weights = tower(w, channels, 1, se) + w.dense(25, channels, width)
    if gates:
        weights += data(33, w.layer(width * 64, 0.2, 1.0)) + data(34, w.layer(width * 64, 0.2))
    weights += b"".join(data(27, w.encoder(width, heads, 48, smolgen)) for _ in range(2)) + integer(28, heads)
    if smolgen:
        weights += w.dense(35, smolgen[2], 4096, bias=False)
    weights += attention_policy(w, width, 24)
    weights += b"".join(data(21, w.encoder(24, 4, 32)) for _ in range(policy_encoders))
    weights += integer(24, 4) if policy_encoders else b""
    weights += w.dense(29, width, 4) + w.dense(7, 256, 128) + w.dense(9, 128, 3 if wdl else 1)
    if moves_left:
        # A bias that keeps the result above 0, where it shows.
        weights += w.dense(31, width, 3) + w.dense(13, 192, 16)
        weights += w.dense(15, 16, 1, bias=False) + data(16, w.layer(1, 0.2, 2.0))
    return weights


def hybrid_nets():
    """Networks with both a tower and encoders: without and with what either may have, and with several heads."""
    smolgen = (4, 16, 8)
    return {
        "hybrid_plain": net(
            hybrid(0, None, False, False, False), formats=formats(1, 6, 3, 1, 0, embedding=0)
        ),
        "hybrid_tagged_se": net(hybrid(8, smolgen, False, True, True), formats=formats(2, 4, 3, 2, 1)),
        "hybrid_map": net(
            hybrid(8, smolgen, True, True, True, policy_encoders=1, width=96, heads=3),
            formats=formats(3, 6, 3, 2, 1, default=1, smolgen=7, embedding=1),
        ),
        "hybrid_dense": net(
            multihead(channels=16, hidden=128),
            formats=formats(133, 134, 3, 2, 1, default=1, ffn=1, smolgen=7, embedding=2),
        ),
    }


def encoded_nets():
    """The network "attention" with other encodings of its numbers."""
    said = formats(1, 6, 3, 2, 1, default=1, smolgen=7, embedding=1)
    names = {2: "attention_f16", 3: "attention_bf16", 4: "attention_f32"}
    return {
        name: net(attention(encoding), (0, 33, 0), said, encoding)
        for encoding, name in names.items()
    }
