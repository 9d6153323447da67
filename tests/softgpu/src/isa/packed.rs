use super::decode::Target;
use super::disassembly::Text;
use super::valu::Op;
pub fn find(_t: &Text, _target: &Target) -> Result<Option<Op>, String> {
    Ok(None)
}
pub fn decode(
    _t: &super::disassembly::Text,
    _target: &super::decode::Target,
) -> Result<Option<super::wave::Run>, String> {
    Ok(None)
}
