use super::decode::Target;
use super::disassembly::Text;
use super::valu::Op;
pub fn find(_t: &Text, _target: &Target) -> Result<Option<Op>, String> {
    Ok(None)
}
