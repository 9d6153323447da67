//! Places in one arena for buffers that live for some of a program's steps.

/// The offset of each buffer and the arena's size: buffers that never live at the same time share memory. A life
/// is the first and the last step that touch a buffer; one without a life gets 0.
pub fn place(lives: &[Option<(usize, usize)>], widths: &[usize]) -> (Vec<usize>, usize) {
    let mut offsets = vec![0; lives.len()];
    let mut arena = 0;
    let mut placed: Vec<(usize, (usize, usize))> = Vec::new();
    for (index, life) in lives.iter().enumerate() {
        let Some(life) = *life else { continue };
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .filter(|(_, other)| other.0 <= life.1 && life.0 <= other.1)
            .map(|&(other, _)| (offsets[other], offsets[other] + widths[other]))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (from, to) in taken {
            if offset + widths[index] <= from {
                break;
            }
            offset = offset.max(to);
        }
        offsets[index] = offset;
        arena = arena.max(offset + widths[index]);
        placed.push((index, life));
    }
    (offsets, arena)
}
