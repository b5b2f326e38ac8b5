//! How often an acknowledgement is measured: `sample_freq`.

/// The share of acknowledgements to be measured, in percent; 0 for none. The error is the text that follows
/// `failed to parse consumer sampling configuration: `.
pub fn parse(text: &str) -> Result<u32, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let number = text.strip_suffix('%').unwrap_or(text);
    let digits = number.strip_prefix(['+', '-']).unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("strconv.Atoi: parsing {number:?}: invalid syntax"));
    }
    match number.parse::<i64>() {
        Err(_) => Err(format!("strconv.Atoi: parsing {number:?}: value out of range")),
        Ok(negative) if negative < 0 => Err("<nil>".to_string()),
        Ok(percent) => Ok(percent.min(100) as u32),
    }
}

/// Whether this one is measured.
pub fn hits(percent: u32) -> bool {
    percent >= 100 || (percent > 0 && rand::random_range(0..100) < percent)
}
