//! Attention of a block: products, norms of heads, rotation, the paged cache.

use crate::Result;
use crate::array::Array;
use crate::ir::{Attention as Shape, Binary, Dim, Dtype, Number, Rotary, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::{HeadNorm, Qkv};
use crate::model::rope::{local_rope, rope};
use crate::model::weights::Source;
use crate::step::Rope;

/// What turns queries and keys.
pub struct Turn {
    frequencies: Array,
    rotary: Rotary,
}

impl Turn {
    /// By these frequencies.
    pub fn new(rope: Rope, bound: &mut Bound) -> Turn {
        Turn {
            frequencies: bound.vector(rope.inv_freq),
            rotary: Rotary {
                interleaved: rope.interleaved,
                magnitude: Number::new(rope.magnitude.into()),
            },
        }
    }

    /// `heads` `[rows, heads, dim]`, turned.
    ///
    /// # Errors
    /// Those of the operation.
    pub fn of(&self, heads: &Array, positions: &Array) -> Result<Array> {
        heads.rotary(positions, &self.frequencies, self.rotary)
    }
}

/// The rotations of a model's layers.
pub struct Turns {
    all: Turn,
    /// Of layers with a window, where theirs is another one.
    local: Option<Turn>,
}

impl Turns {
    /// Those of the config.
    pub fn new(c: &Config, bound: &mut Bound) -> Turns {
        Turns {
            all: Turn::new(rope(c), bound),
            local: local_rope(c).map(|rope| Turn::new(rope, bound)),
        }
    }

    /// That of a layer, if it has one.
    pub fn of(&self, c: &Config, layer: usize) -> Option<&Turn> {
        if c.unturned_layers.get(layer) == Some(&true) {
            return None;
        }
        match (&self.local, c.window(layer)) {
            (Some(local), Some(_)) => Some(local),
            _ => Some(&self.all),
        }
    }
}

/// How queries, keys and values are made.
enum Products {
    Apart([Linear; 3]),
    /// For each key head its queries, its key, its value.
    Groups(Linear),
}

/// The attention of one block.
pub struct Attention {
    products: Products,
    o: Linear,
    norms: Option<[Option<Array>; 2]>,
    growth: Option<Growth>,
    sinks: Option<Array>,
    layer: usize,
    state: usize,
}

/// `1 + beta·ln(1 + ⌊(position + from) / length⌋)`, which queries are multiplied by.
struct Growth {
    beta: Array,
    length: Array,
    one: Array,
    from: Option<Array>,
}

impl Attention {
    /// Binds the attention of a layer at `path`, over a state of its own.
    ///
    /// # Errors
    /// `InvalidFile` for missing or other tensors.
    pub fn bind(
        source: &Source,
        path: &str,
        [layer, state]: [usize; 2],
        bound: &mut Bound,
    ) -> Result<Attention> {
        let c = source.config();
        let (q_width, kv_width) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
        let hidden = c.hidden_size;
        let at = |name: &str| format!("{path}.{name}");
        let norms = head_norms(source, path, layer, bound)?;
        let products = match c.form.qkv {
            Qkv::Apart => Products::Apart([
                bound.linear(source, &at("q_proj"), q_width, hidden)?,
                bound.linear(source, &at("k_proj"), kv_width, hidden)?,
                bound.linear(source, &at("v_proj"), kv_width, hidden)?,
            ]),
            Qkv::Together => {
                let rows = [q_width, kv_width, kv_width];
                Products::Apart(bound.linears(source, &at("qkv_proj"), rows, hidden)?)
            }
            Qkv::Groups => {
                let all = q_width + 2 * kv_width;
                Products::Groups(bound.linear(source, &at("qkv_proj"), all, hidden)?)
            }
        };
        let still = c.unturned_layers.get(layer) == Some(&true);
        let growth = c
            .form
            .query_growth
            .filter(|growth| still || !growth.still_only);
        let growth = growth.map(|growth| Growth {
            beta: bound.number(growth.beta),
            length: bound.number(growth.length),
            one: bound.number(1.0),
            from: (growth.from != 0.0).then(|| bound.number(growth.from)),
        });
        let sinks = match c.form.sinks {
            true => Some(bound.vector(source.numbers(&at("sinks"), c.heads)?)),
            false => None,
        };
        Ok(Attention {
            products,
            o: bound.linear(source, &at("o_proj"), hidden, q_width)?,
            norms,
            growth,
            sinks,
            layer,
            state,
        })
    }

    /// Keys and values of `x` `[tokens, hidden]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn keys_values(
        &self,
        c: &Config,
        x: &Array,
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<[Array; 2]> {
        let (k, v) = match &self.products {
            Products::Apart([_, k, v]) => (k.of(x)?, v.of(x)?),
            Products::Groups(all) => {
                let [_, k, v] = parts(c, &all.of(x)?)?;
                (k, v)
            }
        };
        let norm = self.norms.as_ref().map(|norms| norms[1].as_ref());
        Ok([heads(c, &k, norm, turn, positions)?, v])
    }

    /// The attention of the queries of `x` `[rows, hidden]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(
        &self,
        c: &Config,
        x: &Array,
        [k, v]: [Array; 2],
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<Array> {
        let mut q = match &self.products {
            Products::Apart([q, ..]) => q.of(x)?,
            Products::Groups(all) => {
                let [q, ..] = parts(c, &all.of(x)?)?;
                q
            }
        };
        if let Some(growth) = &self.growth {
            let mut positions = positions.astype(Dtype::F32);
            if let Some(from) = &growth.from {
                positions = positions.binary(Binary::Add, from)?;
            }
            let lengths = positions.binary(Binary::Divide, &growth.length)?;
            let lengths = lengths.unary(Unary::Floor)?;
            let lengths = lengths.binary(Binary::Add, &growth.one)?;
            let growth = lengths
                .unary(Unary::Log)?
                .times(&growth.beta)?
                .plus(&growth.one)?;
            q = q.times(&growth.expand_dims(&[1])?)?;
        }
        let norm = self.norms.as_ref().map(|norms| norms[0].as_ref());
        let q = heads(c, &q, norm, turn, positions)?;
        let shape = Shape {
            heads: c.heads,
            kv_heads: c.kv_heads,
            head_dim: c.head_dim,
            scale: c
                .form
                .score_scale
                .unwrap_or(1.0 / (c.head_dim as f32).sqrt()),
            window: c.window(self.layer),
            chunk: c
                .form
                .chunk
                .filter(|_| c.unturned_layers.get(self.layer) != Some(&true)),
            cap: c.form.score_cap,
        };
        let attended = q.attend([&k, &v], self.sinks.as_ref(), self.state, shape)?;
        self.o.of(&attended)
    }
}

/// The norms of queries and keys, and their weights.
fn head_norms(
    source: &Source,
    path: &str,
    layer: usize,
    bound: &mut Bound,
) -> Result<Option<[Option<Array>; 2]>> {
    let c = source.config();
    let Some(kind) = c.form.qk_norm else {
        return Ok(None);
    };
    if kind == HeadNorm::Weightless {
        let turns = c.unturned_layers.get(layer) != Some(&true);
        return Ok(turns.then_some([None, None]));
    }
    let heads = [c.heads, c.kv_heads];
    let mut norms = Vec::with_capacity(2);
    for (heads, short, long) in [(heads[0], "q", "query"), (heads[1], "k", "key")] {
        norms.push(match kind {
            HeadNorm::Heads => bound.norm(source, &format!("{path}.{short}_norm"), c.head_dim)?,
            HeadNorm::Turned => {
                bound.norm(source, &format!("{path}.{long}_layernorm"), c.head_dim)?
            }
            HeadNorm::Width => {
                let width = heads * c.head_dim;
                bound.norm(source, &format!("{path}.{short}_norm"), width)?
            }
            HeadNorm::LayerEach => {
                // Files of llama.cpp have them as one table.
                let table = format!("{path}.{short}_norm");
                let one = |head| {
                    let path = format!("{path}.{short}_layernorm.norms.{head}");
                    source.norm(&path, c.head_dim)
                };
                let all = match source.has_part(&table, "weight")? {
                    true => source.table(&table, "weight", heads, c.head_dim)?,
                    false => (0..heads).map(one).collect::<Result<Vec<_>>>()?.concat(),
                };
                let shape = crate::ir::Shape::new([heads, c.head_dim]);
                bound.vector(all).reshape(shape)?
            }
            HeadNorm::Weightless => continue,
        });
    }
    let norms = <[Array; 2]>::try_from(norms).ok();
    Ok(norms.map(|norms| norms.map(Some)))
}

/// `x` `[rows, heads · dim]` with each head normed (if there is a norm) and turned.
fn heads(
    c: &Config,
    x: &Array,
    norm: Option<Option<&Array>>,
    turn: Option<&Turn>,
    positions: &Array,
) -> Result<Array> {
    let kind = c.form.qk_norm.filter(|_| norm.is_some());
    let norm = norm.flatten();
    let eps = c.norm_eps.into();
    let mut y = match kind {
        Some(HeadNorm::Width) => x.rms_norm(norm, eps)?,
        _ => x.clone(),
    };
    let by_head = matches!(kind, Some(kind) if kind != HeadNorm::Width);
    let (Some(&[rows, width]), true) = (
        x.shape().dims().first_chunk::<2>(),
        by_head || turn.is_some(),
    ) else {
        return Ok(y);
    };
    let dims = [
        rows,
        Dim::fixed(width.multiple() / c.head_dim),
        c.head_dim.into(),
    ];
    y = y.reshape(crate::ir::Shape::new(dims))?;
    y = match (kind, norm) {
        (Some(HeadNorm::Heads | HeadNorm::Weightless), norm) => y.rms_norm(norm, eps)?,
        (Some(HeadNorm::LayerEach), Some(weight)) => {
            y.layer_norm(None, None, eps)?.times(weight)?
        }
        _ => y,
    };
    if let Some(turn) = turn {
        y = turn.of(&y, positions)?;
    }
    if kind == Some(HeadNorm::Turned) {
        y = y.rms_norm(norm, eps)?;
    }
    y.reshape(x.shape().clone())
}

/// Queries, keys and values of `x` `[rows, key heads · (queries + 2) · dim]`.
fn parts(c: &Config, x: &Array) -> Result<[Array; 3]> {
    let rows = x.shape().dims()[0];
    let (group, dim) = (c.heads / c.kv_heads, c.head_dim);
    let dims = [c.kv_heads, group + 2, dim].map(Dim::fixed);
    let x = x.reshape(crate::ir::Shape::new([rows].into_iter().chain(dims)))?;
    let parts = x.split(&[group as i64, group as i64 + 1], 2)?;
    let flat = |place: usize, heads: usize| {
        parts[place].reshape(crate::ir::Shape::new([rows, Dim::fixed(heads * dim)]))
    };
    Ok([
        flat(0, c.heads)?,
        flat(1, c.kv_heads)?,
        flat(2, c.kv_heads)?,
    ])
}
