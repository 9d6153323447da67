//! The messages of a network's file: which field is what.

/// What a field holds.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// A number.
    Number,
    /// Bytes that are only counted.
    Bytes,
    /// A tensor.
    Layer,
    /// A message.
    Message(&'static [Field]),
    /// Messages.
    Messages(&'static [Field]),
}

/// One field of a message.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its number.
    pub number: u64,
    /// Its name, for paths.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

const fn field(number: u64, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind }
}

const fn layer(number: u64, name: &'static str) -> Field {
    field(number, name, Kind::Layer)
}

const fn number(number: u64, name: &'static str) -> Field {
    field(number, name, Kind::Number)
}

/// The whole file.
pub const NET: &[Field] = &[
    number(1, "magic"),
    field(3, "min_version", Kind::Message(VERSION)),
    field(4, "format", Kind::Message(FORMAT)),
    field(10, "weights", Kind::Message(WEIGHTS)),
    field(11, "onnx_model", Kind::Bytes),
];

const VERSION: &[Field] = &[number(1, "major"), number(2, "minor"), number(3, "patch")];

const FORMAT: &[Field] = &[
    number(1, "weights_encoding"),
    field(2, "network_format", Kind::Message(NETWORK_FORMAT)),
];

const NETWORK_FORMAT: &[Field] = &[
    number(1, "input"),
    number(2, "output"),
    number(3, "network"),
    number(4, "policy"),
    number(5, "value"),
    number(6, "moves_left"),
    number(7, "default_activation"),
    number(8, "smolgen_activation"),
    number(9, "ffn_activation"),
    number(10, "input_embedding"),
];

const CONV: Kind = Kind::Message(&[
    layer(1, "weights"),
    layer(2, "biases"),
    layer(3, "bn_means"),
    layer(4, "bn_stddivs"),
    layer(5, "bn_gammas"),
    layer(6, "bn_betas"),
]);

const RESIDUAL: &[Field] = &[
    field(1, "conv1", CONV),
    field(2, "conv2", CONV),
    field(3, "se", Kind::Message(SE)),
];

const SE: &[Field] = &[
    layer(1, "w1"),
    layer(2, "b1"),
    layer(3, "w2"),
    layer(4, "b2"),
];

const FFN: Kind = Kind::Message(&[
    layer(1, "dense1_w"),
    layer(2, "dense1_b"),
    layer(3, "dense2_w"),
    layer(4, "dense2_b"),
]);

const ENCODER: Kind = Kind::Messages(&[
    field(1, "mha", Kind::Message(MHA)),
    layer(2, "ln1_gammas"),
    layer(3, "ln1_betas"),
    field(4, "ffn", FFN),
    layer(5, "ln2_gammas"),
    layer(6, "ln2_betas"),
]);

const MHA: &[Field] = &[
    layer(1, "q_w"),
    layer(2, "q_b"),
    layer(3, "k_w"),
    layer(4, "k_b"),
    layer(5, "v_w"),
    layer(6, "v_b"),
    layer(7, "dense_w"),
    layer(8, "dense_b"),
    field(9, "smolgen", Kind::Message(SMOLGEN)),
    layer(10, "rpe_q"),
    layer(11, "rpe_k"),
    layer(12, "rpe_v"),
];

const SMOLGEN: &[Field] = &[
    layer(1, "compress"),
    layer(2, "dense1_w"),
    layer(3, "dense1_b"),
    layer(4, "ln1_gammas"),
    layer(5, "ln1_betas"),
    layer(6, "dense2_w"),
    layer(7, "dense2_b"),
    layer(8, "ln2_gammas"),
    layer(9, "ln2_betas"),
];

const VALUE_HEAD: Kind = Kind::Message(&[
    layer(1, "ip_val_w"),
    layer(2, "ip_val_b"),
    layer(3, "ip1_val_w"),
    layer(4, "ip1_val_b"),
    layer(5, "ip2_val_w"),
    layer(6, "ip2_val_b"),
    field(11, "value", CONV),
]);

const VALUE_HEADS: &[Field] = &[
    field(1, "winner", VALUE_HEAD),
    field(2, "q", VALUE_HEAD),
    field(3, "st", VALUE_HEAD),
];

const POLICY_HEAD: Kind = Kind::Message(&[
    layer(1, "ip_pol_w"),
    layer(2, "ip_pol_b"),
    layer(3, "ip2_pol_w"),
    layer(4, "ip2_pol_b"),
    layer(5, "ip3_pol_w"),
    layer(6, "ip3_pol_b"),
    layer(7, "ip4_pol_w"),
    field(8, "pol_encoder", ENCODER),
    number(9, "pol_headcount"),
    field(10, "policy1", CONV),
    field(11, "policy", CONV),
]);

const POLICY_HEADS: &[Field] = &[
    layer(1, "ip_pol_w"),
    layer(2, "ip_pol_b"),
    field(3, "vanilla", POLICY_HEAD),
    field(4, "optimistic_st", POLICY_HEAD),
    field(5, "soft", POLICY_HEAD),
    field(6, "opponent", POLICY_HEAD),
];

const WEIGHTS: &[Field] = &[
    field(1, "input", CONV),
    field(2, "residual", Kind::Messages(RESIDUAL)),
    field(3, "policy", CONV),
    layer(4, "ip_pol_w"),
    layer(5, "ip_pol_b"),
    field(6, "value", CONV),
    layer(7, "ip1_val_w"),
    layer(8, "ip1_val_b"),
    layer(9, "ip2_val_w"),
    layer(10, "ip2_val_b"),
    field(11, "policy1", CONV),
    field(12, "moves_left", CONV),
    layer(13, "ip1_mov_w"),
    layer(14, "ip1_mov_b"),
    layer(15, "ip2_mov_w"),
    layer(16, "ip2_mov_b"),
    layer(17, "ip2_pol_w"),
    layer(18, "ip2_pol_b"),
    layer(19, "ip3_pol_w"),
    layer(20, "ip3_pol_b"),
    field(21, "pol_encoder", ENCODER),
    layer(22, "ip4_pol_w"),
    number(24, "pol_headcount"),
    layer(25, "ip_emb_w"),
    layer(26, "ip_emb_b"),
    field(27, "encoder", ENCODER),
    number(28, "headcount"),
    layer(29, "ip_val_w"),
    layer(30, "ip_val_b"),
    layer(31, "ip_mov_w"),
    layer(32, "ip_mov_b"),
    layer(33, "ip_mult_gate"),
    layer(34, "ip_add_gate"),
    layer(35, "smolgen_w"),
    layer(37, "ip_emb_preproc_w"),
    layer(38, "ip_emb_preproc_b"),
    layer(39, "ip_emb_ln_gammas"),
    layer(40, "ip_emb_ln_betas"),
    field(41, "ip_emb_ffn", FFN),
    layer(42, "ip_emb_ffn_ln_gammas"),
    layer(43, "ip_emb_ffn_ln_betas"),
    field(44, "value_heads", Kind::Message(VALUE_HEADS)),
    field(45, "policy_heads", Kind::Message(POLICY_HEADS)),
];
