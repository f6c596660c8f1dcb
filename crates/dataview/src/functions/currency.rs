//! Amounts of money as `Intl.NumberFormat` writes them in the English of the United States.

use lapidary_query::decimal_text;

/// Currencies with a sign of their own; all others are written with their code.
const SIGNS: [(&str, &str); 22] = [
    ("AUD", "A$"),
    ("BRL", "R$"),
    ("CAD", "CA$"),
    ("CNY", "CN¥"),
    ("EUR", "€"),
    ("GBP", "£"),
    ("HKD", "HK$"),
    ("ILS", "₪"),
    ("INR", "₹"),
    ("JPY", "¥"),
    ("KRW", "₩"),
    ("MXN", "MX$"),
    ("NZD", "NZ$"),
    ("PHP", "₱"),
    ("TWD", "NT$"),
    ("USD", "$"),
    ("VND", "₫"),
    ("XAF", "FCFA\u{a0}"),
    ("XCD", "EC$"),
    ("XCG", "Cg.\u{a0}"),
    ("XOF", "F\u{202f}CFA\u{a0}"),
    ("XPF", "CFPF\u{a0}"),
];
/// Without smaller coins, and with thousandths.
const WHOLE: &str = " AFN ALL BIF CLP COP DJF GNF HUF IDR IQD IRR ISK JPY KMF KPW KRW LAK LBP MGA MMK PKR PYG RWF SLL SOS SYP UGX VND VUV XAF XOF XPF YER ";
const THOUSANDTHS: &str = " BHD JOD KWD LYD OMR TND ";

/// `$1,234.50`, `-PLN 5.50`; nothing if the code is not three letters.
pub(super) fn currency_text(amount: f64, code: &str) -> Option<String> {
    // `Intl` accepts any three letters, whether there is such a currency or not.
    (code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some(())?;
    let code = code.to_ascii_uppercase();
    let listed = |list: &str| list.contains(&format!(" {code} "));
    let digits = if listed(WHOLE) {
        0
    } else if listed(THOUSANDTHS) {
        3
    } else {
        2
    };
    let sign = SIGNS.iter().find(|(known, _)| *known == code).map(|(_, sign)| (*sign).to_owned());
    let sign = sign.unwrap_or_else(|| format!("{code}\u{a0}"));
    let number = decimal_text(amount, digits, digits, true);
    Some(match number.strip_prefix('-') {
        // The minus comes before the sign of the currency.
        Some(magnitude) => format!("-{sign}{magnitude}"),
        None => format!("{sign}{number}"),
    })
}
