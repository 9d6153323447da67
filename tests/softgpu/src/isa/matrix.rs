pub fn decode(
    _t: &super::disassembly::Text,
    _target: &super::decode::Target,
) -> Result<Option<super::wave::Run>, String> {
    Ok(None)
}
