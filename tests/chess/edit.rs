//! Changing networks' files, field by field.
#![allow(dead_code)] // each test program uses a part

use crate::golden::read;
use mlxrocm::chess::File;

/// The file's protocol buffer.
pub fn unpacked(name: &str) -> Vec<u8> {
    use std::io::Read;
    let packed = read(&format!("{name}.pb.gz"));
    let mut data = Vec::new();
    flate2::read::GzDecoder::new(&packed[..])
        .read_to_end(&mut data)
        .unwrap();
    File::parse(name, data.clone()).unwrap();
    data
}

pub fn varint(mut number: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while number > 127 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
    out
}

pub fn field(number: usize, data: &[u8]) -> Vec<u8> {
    let mut out = varint(number << 3 | 2);
    out.extend(varint(data.len()));
    out.extend(data);
    out
}

/// Fields of a message: where each begins, its number, its content.
pub fn fields(data: &[u8]) -> Vec<(usize, usize, std::ops::Range<usize>)> {
    let mut at = 0;
    let mut found = Vec::new();
    let read = |at: &mut usize| {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = data[*at];
            *at += 1;
            number |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                return number;
            }
        }
    };
    while at < data.len() {
        let start = at;
        let key = read(&mut at);
        let length = match key & 7 {
            0 => {
                read(&mut at);
                0
            }
            5 => 4,
            _ => read(&mut at),
        };
        found.push((start, key >> 3, at..at + length));
        at += length;
    }
    found
}

/// The file with all messages at a path of field numbers changed.
pub fn change(data: &[u8], path: &[usize], with: &dyn Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let Some((first, rest)) = path.split_first() else {
        return with(data);
    };
    let mut out = Vec::new();
    let all = fields(data);
    for (place, (start, number, content)) in all.iter().enumerate() {
        let end = all.get(place + 1).map_or(data.len(), |next| next.0);
        match number == first {
            true => out.extend(field(*number, &change(&data[content.clone()], rest, with))),
            false => out.extend(&data[*start..end]),
        }
    }
    out
}
