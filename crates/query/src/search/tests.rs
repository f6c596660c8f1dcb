//! Tests of parsed queries.

use super::*;

/// A query in a form that shows how it was parsed.
fn shown(node: &QueryNode) -> String {
    let list = |nodes: &[QueryNode], between: &str| nodes.iter().map(shown).collect::<Vec<_>>().join(between);
    match node {
        QueryNode::All(nodes) => format!("({})", list(nodes, " & ")),
        QueryNode::Any(nodes) => format!("({})", list(nodes, " | ")),
        QueryNode::Not(node) => format!("!{}", shown(node)),
        QueryNode::Words(words) => {
            let place = if words.content { "content:" } else { "" };
            let (mark, open) = (if words.exact { "\"" } else { "" }, if words.open { "*" } else { "" });
            let also = words.also.as_ref().map_or(String::new(), |also| format!("|{also}"));
            format!("{place}{mark}{}{also}{mark}{open}", words.terms.join("+"))
        }
        QueryNode::Text(_) => "/…/".to_owned(),
        QueryNode::Path(PathFilter::Path(text)) => format!("path={text}"),
        QueryNode::Path(PathFilter::Name(text)) => format!("name={text}"),
        QueryNode::Path(PathFilter::Extension(text)) => format!("ext={text}"),
        QueryNode::Path(PathFilter::PathMatches(_)) => "path~".to_owned(),
        QueryNode::Path(PathFilter::NameMatches(_)) => "name~".to_owned(),
        QueryNode::Tag(name) => format!("#{name}"),
        QueryNode::Property(_) => "[…]".to_owned(),
        QueryNode::Page(PageRange { first, last }) => format!("page={first}-{last}"),
        QueryNode::Within(piece, node) => format!("{piece:?}{{{}}}", shown(node)),
    }
}

#[test]
fn every_text_is_a_query() {
    for (query, expected) in [
        ("", "()"),
        ("  ", "()"),
        ("stone", "(stone*)"),
        ("Stone roof", "(stone & roof*)"),
        ("stone \"Slate Roof\"", "(stone & \"slate+roof\")"),
        ("\"unclosed phrase", "(\"unclosed+phrase\")"),
        ("\"a \\\"b\\\" c\"", "(\"a+b+c\")"),
        ("a OR b", "((a | b))"),
        ("a b OR c d", "(((a & b) | (c & d)))"),
        ("aa OR", "(aa*)"),
        ("OR aa", "(aa*)"),
        ("or aa ORacle", "(aa & oracle*)"),
        ("(a OR b) cc", "((a | b) & cc*)"),
        ("((aa", "(aa*)"),
        ("aa) bb", "(aa & bb*)"),
        (")(", "()"),
        ("aa -bb", "(aa & !\"bb\")"),
        ("-\"a b\" cc", "(!\"a+b\" & cc*)"),
        ("-(a b)", "(!(\"a\" & \"b\"))"),
        ("aa - bb & cc", "(aa & bb & cc*)"),
        ("\"->\" aa", "(/…/ & aa*)"),
        ("--aa", "(!\"aa\")"),
        ("foo-bar", "(foo+bar*)"),
        ("path:Areas/Café stone", "(path=areas/cafe & stone*)"),
        ("path:\"a b\" FILE:x.md", "(path=a b & name=x.md)"),
        ("file:(a OR b)", "((name=a | name=b))"),
        ("ext:.md ext:canvas", "(ext=md & ext=canvas)"),
        ("stone page:3", "(stone & page=3-3)"),
        ("(page:3-5 OR PAGE:9-) -page:4", "((page=3-5 | page=9-4294967295) & !page=4-4)"),
        ("page:five page:0 page:5-3", "(page+five & page+0 & page+5+3)"),
        ("tag:#Gem/ tag:a/b #Work", "(#gem & #a/b & #work)"),
        ("content:stone", "(content:stone*)"),
        ("content:(a \"b c\")", "(content:a & content:\"b+c\")"),
        ("match-case:Stone", "(\"stone\" & /…/)"),
        ("ignore-case:Stone", "(stone*)"),
        ("line:(aa bb)", "(Line{(aa & bb*)})"),
        ("-section:aa", "(!Section{\"aa\"})"),
        ("block:\"a b\"", "(Block{\"a+b\"})"),
        ("task:\"\"", "(Task(Any){()})"),
        ("task-todo:call task-done:(x)", "(Task(Todo){call} & Task(Done){x})"),
        ("[status]", "([…])"),
        ("[status:open] aa", "([…] & aa*)"),
        ("[a:\"]\"]", "([…])"),
        ("[]", "()"),
        ("[open", "(open*)"),
        ("[[Slate roof#Gutter|x]]", "(slate & roof+gutter+x)"),
        ("issue #12", "(issue & 12*)"),
        ("#a1, #b.", "(#a1 & #b)"),
        ("Müll", "(mull|muell*)"),
        ("\"Müll\" Öl-Bär", "(\"mull|muell\" & ol+bar*)"),
        ("/st.ne/ aa", "(/…/ & aa*)"),
        ("/st ne/", "(/…/)"),
        ("/(/", "()"),
        ("/usr/bin", "(usr+bin*)"),
        ("path:/^a/", "(path~)"),
        ("https://a.b/c", "(https+a+b+c)"),
        ("path:", "(path*)"),
        ("note: x", "(note & x)"),
        ("sto*", "(sto*)"),
        ("検索", "(検索*)"),
        ("全文検索", "(全文+文検+検索*)"),
        ("\"検索 foo\"", "(\"検索+索+foo\")"),
        ("石", "(石*)"),
        ("💎", "(/…/)"),
        ("C++", "(c)"),
        ("how to cut the stone", "(cut & stone*)"),
        ("wie wird das Dach gedeckt", "(dach & gedeckt*)"),
        ("what is it", "(what & is & it*)"),
        ("\"to be\" the -of stone", "(\"to+be\" & !\"of\" & stone*)"),
        ("line:(the stone)", "(Line{(the & stone*)})"),
    ] {
        let found = shown(&SearchQuery::parse(query).root);
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn depth_and_length_have_an_end() {
    let deep = format!("{}aa{}", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(shown(&SearchQuery::parse(&deep).root), "(aa*)");
    let operators = format!("{}aa", "line:".repeat(5_000));
    assert!(!SearchQuery::parse(&operators).is_empty());
    let long = "word ".repeat(5_000);
    assert_eq!((SearchQuery::parse(&long).wanted().len(), SearchQuery::parse(&long).cut), (64, true));
    assert!(!SearchQuery::parse(&"word ".repeat(64)).cut);
    SearchQuery::parse(&"-".repeat(100_000));
}

#[test]
fn an_invalid_expression_is_reported() {
    let said = |text: &str| SearchQuery::parse(text).no_expressions;
    assert_eq!(said("/a(b/ /c/ path:/[/"), ["a(b", "["]);
    assert!(said("/usr/bin /").is_empty());
}

#[test]
fn all_words_become_any_word_and_the_rest_stays() {
    let mut query = SearchQuery::parse("stone roof \"a b\" -cc tag:x");
    assert!(query.relax());
    assert_eq!(shown(&query.root), "(\"a+b\" & !\"cc\" & #x & (stone | roof))");
    assert!(!SearchQuery::parse("stone \"a b\"").relax());
    assert!(!SearchQuery::parse("aa OR bb").relax());
}

#[test]
fn a_run_without_spaces_becomes_its_pairs_without_those_that_say_nothing() {
    let relaxed = |text: &str| {
        let mut query = SearchQuery::parse(text);
        query.relax().then(|| shown(&query.root))
    };
    assert_eq!(relaxed("石庭を作る").as_deref(), Some("((石庭 | 庭を | を作 | 作る*))"));
    assert_eq!(relaxed("庭です、石庭").as_deref(), Some("((庭で | 石庭*))"), "each once, and no single characters");
    assert_eq!(relaxed("Rustの石 tag:x").as_deref(), Some("(#x & (rust | の石))"));
    assert_eq!(relaxed("です").as_deref(), None);
    assert_eq!(relaxed("foo-bar").as_deref(), Some("((foo | bar*))"));
    assert_eq!(relaxed("\"石庭を作る\""), None, "a quoted text is matched exactly");
    let mut pasted = SearchQuery::parse(&('一'..'丁').chain('\u{4e10}'..'\u{5000}').collect::<String>());
    assert!(pasted.relax() && pasted.cut && pasted.wanted().len() == 128);
}

#[test]
fn alternatives_count_as_much_as_the_query_and_conditions_stay() {
    let shown_with = |text: &str, alternatives: &[&str]| {
        let alternatives: Vec<String> = alternatives.iter().map(|text| (*text).to_owned()).collect();
        shown(&SearchQuery::with_alternatives(text, &alternatives).root)
    };
    assert_eq!(shown_with("stone roof", &["slate", "the tiles on top"]), "((stone | roof* | slate* | tiles | top*))");
    assert_eq!(shown_with("roof tag:x -draft", &["tiles"]), "(#x & !\"draft\" & (roof | tiles*))");
    assert_eq!(shown_with("roof", &[]), "(roof*)");
    assert_eq!(shown_with("roof", &["", "  "]), "(roof*)");
    assert_eq!(
        shown_with("石庭を見る", &["\"dry garden\" OR moss"]),
        "((石庭 | 庭を | を見 | 見る* | (\"dry+garden\" | moss*)))"
    );
    let numbers: Vec<usize> =
        SearchQuery::with_alternatives("a1 b1", &["c1 d1".into()]).wanted().iter().map(|words| words.number).collect();
    assert_eq!(numbers, [0, 1, 2, 3]);
}

#[test]
fn what_is_searched_for_is_told_from_the_conditions_on_it() {
    for (query, free_text, conditions) in [
        ("Slates for the Roof", "Slates for the Roof", "()"),
        ("石庭 水", "石庭 水", "()"),
        ("roof -tile path:House \"blue slate\"", "roof blue slate", "(!\"tile\" & path=house & \"blue+slate\")"),
        ("roof OR cover", "roof cover", "()"),
        ("roof OR tag:a", "roof", "((roof | #a))"),
        ("line:(a b) roof", "a b roof", "(Line{(a & b)})"),
        ("content:aa", "aa", "(content:aa*)"),
        ("[a:b] #c", "", "([…] & #c)"),
    ] {
        let parsed = SearchQuery::parse(query);
        assert_eq!(parsed.free_text, free_text, "{query}");
        assert_eq!(shown(&parsed.into_conditions()), conditions, "{query}");
    }
    let has_free_words = |query: &str| SearchQuery::parse(query).has_free_words();
    assert!(has_free_words("roof") && has_free_words("a OR b") && has_free_words("tag:a roof"));
    assert!(!has_free_words("") && !has_free_words("\"a b\"") && !has_free_words("tag:a") && !has_free_words("-a"));
    let other = SearchQuery::with_alternatives("roof -tile", &["cover".to_owned(), "#a".to_owned()]);
    assert_eq!(other.free_text, "roof. cover");
}
