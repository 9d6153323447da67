//! Writes GGUF files of versions 1 to 3.

/// A GGUF file under construction.
pub struct GgufWriter {
    version: u32,
    alignment: usize,
    metadata: Vec<(String, Vec<u8>)>,
    tensors: Vec<Tensor>,
}

struct Tensor {
    name: String,
    /// Contiguous dimension first, as stored.
    dims: Vec<u64>,
    kind: u32,
    data: Vec<u8>,
}

impl GgufWriter {
    pub fn new(version: u32) -> GgufWriter {
        GgufWriter {
            version,
            alignment: 32,
            metadata: Vec::new(),
            tensors: Vec::new(),
        }
    }

    /// A length or count: 32 bits in version 1.
    fn length(&self, length: usize) -> Vec<u8> {
        match self.version {
            1 => (length as u32).to_le_bytes().to_vec(),
            _ => (length as u64).to_le_bytes().to_vec(),
        }
    }

    fn string(&self, text: &str) -> Vec<u8> {
        let mut bytes = self.length(text.len());
        bytes.extend(text.as_bytes());
        bytes
    }

    /// An entry with a value type and its raw bytes.
    pub fn raw(&mut self, key: &str, kind: u32, value: &[u8]) -> &mut Self {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(value);
        self.metadata.push((key.to_string(), bytes));
        self
    }

    /// Whether there is an entry for the key.
    pub fn has(&self, key: &str) -> bool {
        self.metadata.iter().any(|(other, _)| other == key)
    }

    /// Gives an entry another key.
    pub fn rename(&mut self, key: &str, to: &str) {
        let entry = self.metadata.iter_mut().find(|(other, _)| other == key);
        entry.unwrap().0 = to.to_string();
    }

    pub fn alignment(&mut self, alignment: usize) -> &mut Self {
        self.alignment = alignment;
        self.u32("general.alignment", alignment as u32)
    }

    pub fn u32(&mut self, key: &str, value: u32) -> &mut Self {
        self.raw(key, 4, &value.to_le_bytes())
    }

    pub fn f32(&mut self, key: &str, value: f32) -> &mut Self {
        self.raw(key, 6, &value.to_le_bytes())
    }

    pub fn flag(&mut self, key: &str, value: bool) -> &mut Self {
        self.raw(key, 7, &[value.into()])
    }

    pub fn text(&mut self, key: &str, value: &str) -> &mut Self {
        let bytes = self.string(value);
        self.raw(key, 8, &bytes)
    }

    /// An array of `count` elements of type `kind`, given as raw bytes.
    pub fn array(&mut self, key: &str, kind: u32, count: usize, elements: &[u8]) -> &mut Self {
        let mut bytes = kind.to_le_bytes().to_vec();
        bytes.extend(self.length(count));
        bytes.extend(elements);
        self.raw(key, 9, &bytes)
    }

    pub fn texts(&mut self, key: &str, values: &[String]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().flat_map(|text| self.string(text)).collect();
        self.array(key, 8, values.len(), &bytes)
    }

    pub fn i32s(&mut self, key: &str, values: &[i32]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.array(key, 5, values.len(), &bytes)
    }

    pub fn f32s(&mut self, key: &str, values: &[f32]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.array(key, 6, values.len(), &bytes)
    }

    pub fn flags(&mut self, key: &str, values: &[bool]) -> &mut Self {
        let bytes: Vec<u8> = values.iter().map(|&flag| flag.into()).collect();
        self.array(key, 7, values.len(), &bytes)
    }

    /// A tensor of GGML type number `kind`; `dims` as stored, the contiguous one first.
    pub fn tensor(&mut self, name: &str, dims: &[u64], kind: u32, data: Vec<u8>) -> &mut Self {
        self.tensors.push(Tensor {
            name: name.to_string(),
            dims: dims.to_vec(),
            kind,
            data,
        });
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut out = b"GGUF".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(self.length(self.tensors.len()));
        out.extend(self.length(self.metadata.len()));
        for (key, value) in &self.metadata {
            out.extend(self.string(key));
            out.extend(value);
        }
        let mut offset = 0u64;
        for tensor in &self.tensors {
            out.extend(self.string(&tensor.name));
            out.extend((tensor.dims.len() as u32).to_le_bytes());
            for size in &tensor.dims {
                out.extend(self.length(*size as usize));
            }
            out.extend(tensor.kind.to_le_bytes());
            out.extend(offset.to_le_bytes());
            offset += tensor.data.len().next_multiple_of(self.alignment) as u64;
        }
        for tensor in &self.tensors {
            out.resize(out.len().next_multiple_of(self.alignment), 0);
            out.extend(&tensor.data);
        }
        out
    }
}
