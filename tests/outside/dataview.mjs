// Compares the Dataview Query Language with what it is made of in the app: the parser of the plugin itself, Luxon for dates
// and durations, and JavaScript for numbers, texts, order and regular expressions.
//
//     MODULES=node_modules DATAVIEW=package/lib/index.js ANSWERS=dataview_answers node dataview.mjs
//
// The answers are given by the example `dataview_answers` of the crate `query`.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

process.env.TZ = "UTC";
const require = createRequire(join(process.env.MODULES, "x.js"));
const { DateTime, Duration } = require("luxon");
const dataview = require(process.env.DATAVIEW);
const program = process.env.ANSWERS;

let passed = 0;
const failures = [];
const questions = [];
const ask = (question, expected) => questions.push({ question, expected });

// Always the same, so that nothing fails by chance.
let seed = 20261117;
const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % below;
};
const pick = (list) => list[random(list.length)];

// ---- Trees of the plugin's parser, in the form of ours ----

const typedLink = (link) => {
    const written = { path: link.path, type: link.type };
    if (link.subpath !== undefined) written.subpath = link.subpath;
    if (link.display !== undefined) written.display = link.display;
    if (link.embed) written.embed = true;
    return { $link: written };
};
const units = ["years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds"];
const typedDuration = (duration) => {
    const object = duration.toObject();
    return { $duration: Object.fromEntries(units.filter((unit) => object[unit]).map((unit) => [unit, object[unit]])) };
};
const typedDate = (date) => ({ $date: date.toISO() });
const isLink = (value) => value && typeof value === "object" && "path" in value && "embed" in value;
const typed = (value) => {
    if (value === null || value === undefined) return null;
    if (DateTimeLike(value)) return typedDate(value);
    if (DurationLike(value)) return typedDuration(value);
    if (isLink(value)) return typedLink(value);
    if (Array.isArray(value)) return value.map(typed);
    return value;
};
const DateTimeLike = (value) => value?.isLuxonDateTime === true;
const DurationLike = (value) => value?.isLuxonDuration === true;

const field = (node) => {
    switch (node.type) {
        case "literal": return { literal: typed(node.value) };
        case "variable": return { variable: node.name };
        case "negated": return { not: field(node.child) };
        case "binaryop": return { op: node.op, left: field(node.left), right: field(node.right) };
        case "index": return { index: field(node.index), of: field(node.object) };
        case "function": return { call: node.arguments.map(field), of: field(node.func) };
        case "lambda": return { lambda: node.arguments, body: field(node.value) };
        case "list": return { list: node.values.map(field) };
        case "object": return { object: Object.fromEntries(Object.entries(node.values).map(([k, v]) => [k, field(v)])) };
        default: throw new Error(`unknown node ${node.type}`);
    }
};
const source = (node) => {
    switch (node.type) {
        case "folder": return { folder: node.folder };
        case "tag": return { tag: node.tag };
        case "csv": return { csv: node.path };
        case "link": return { link: node.file, incoming: node.direction === "incoming" };
        case "negate": return { not: source(node.child) };
        case "binaryop": return { op: node.op, left: source(node.left), right: source(node.right) };
        default: throw new Error(`unknown source ${node.type}`);
    }
};
const named = (node) => ({ name: node.name, field: field(node.field) });
const clause = (node) => {
    switch (node.type) {
        case "where": return { where: field(node.clause) };
        case "sort": return { sort: node.fields.map((key) => ({ field: field(key.field), descending: key.direction === "descending" })) };
        case "limit": return { limit: field(node.amount) };
        case "group": return { group: named(node.field) };
        case "flatten": return { flatten: named(node.field) };
        default: return { from: source(node) };
    }
};
const query = (node) => {
    const { type, showId } = node.header;
    const header = { type };
    if (type === "table") Object.assign(header, { showId, fields: node.header.fields.map(named) });
    if (type === "list") Object.assign(header, { showId, format: node.header.format ? field(node.header.format) : null });
    if (type === "calendar") header.field = named(node.header.field);
    return { header, source: source(node.source), clauses: node.operations.map(clause) };
};

// ---- Our trees, with chains folded from the left ----

const folded = (node) => {
    if (Array.isArray(node)) return node.map(folded);
    if (node === null || typeof node !== "object") return node;
    if ("literal" in node) return node;
    if ("chain" in node) {
        const parts = node.chain;
        let left = folded(parts[0]);
        for (let at = 1; at < parts.length; at += 2) left = { op: parts[at], left, right: folded(parts[at + 1]) };
        return left;
    }
    if ("postfix" in node) {
        return node.steps.reduce((of, step) => ("call" in step ? { call: folded(step.call), of } : { index: folded(step.index), of }), folded(node.postfix));
    }
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, folded(value)]));
};

// Dates are compared as moments with their offset, because what is written may leave out midnight.
const zoneOf = (text) => text.match(/\[([^\]]+)\]$/)?.[1];
const normal = (value) => {
    if (Array.isArray(value)) return value.map(normal);
    if (value === null || typeof value !== "object") return value;
    if (typeof value.$date === "string") {
        const zone = zoneOf(value.$date);
        const text = value.$date.replace(/\[[^\]]+\]$/, "");
        return { $date: (zone ? DateTime.fromISO(text, { zone }) : DateTime.fromISO(text, { setZone: true })).toISO().replace("Z", "+00:00") };
    }
    return Object.fromEntries(Object.keys(value).sort().map((name) => [name, normal(value[name])]));
};
const canonical = (value) => JSON.stringify(normal(value));

// ---- Texts ----

const expressions = `
a|a.b|a.b.c|a[0]|a["x"]|a[b]|a[b].c[d](e)|f()|f(a)|f(a, b)|f( a , b )|f(a)(b)|f(a).b|"length"(a)|(a)(b)
1|-1|1.5|-1.5|1.|.5|1e3|01|1 + 1|1+1|1 +1|1 -1|1-1|a-1|a -1|a - 1|a- 1|a*b/c%d|a + b * c|(a + b) * c|a = b|a == b|a != b|a <= b|a =< b
a and b|a AND b|a or b and c|a & b|a && b|a || b|x andy|x orange|not a|!a|!a.b|!a = b|!!a|!(a and b)|! a|-a|- 1
true|false|True|False|TRUE|trueish|nullable|falsey|null|NULL|nullx|null.x|true.x
"a"|"a\\"b"|"a\\\\b"|"a\\nb"|"a
b"|'a'|"open|""
[]|[ ]|[1]|[1, 2]|[1 , 2]|[1,]|[,1]|[[a]]|[[a|b]]|[[a#b]]|[[a#^b]]|[[a#b#c]]|[[a\\|b]]|[[a\\|b|c]]|[[]]|[[#]]|[[|x]]|![[a]]|! [[a]]|[[[a]]]|[[1,2],[3,4]]|[ [1, 2] ]|[[1, 2]]|[[a]].b|[[a]][0]
{}|{ }|{a: 1}|{a:1,b:2}|{ a : 1 , b : 2 }|{"a b": 1}|{a}|{a: 1,}|{1: 2}|{a: {b: [1]}}|{a: 1}.a
(x) => x|(x, y) => x + y|() => 1|( x ) => x|(x)=>x|x => x|(x) => (y) => x + y|map(a, (x) => x + 1)|((x) => x)(1)|(x) =>|(1) => x
date(2020-01-02)|date( 2020-01-02 )|date(2020-01)|date(2020)|date(2020-13)|date(2020-1-2)|date(2020-02-30)|date(2020-01-02T10)|date(2020-01-02T10:20)|date(2020-01-02T10:20:30)|date(2020-01-02T10:20:30.400)|date(2020-01-02T10:20:30Z)|date(2020-01-02T10:20Z)|date(2020-01-02T10:20:30+2)|date(2020-01-02T10:20:30-02:30)|date(2020-01-02T10:20:30.4)|date(2020-01-02T25:61:61)|date(2020-00-01)|date(2020-01-00)
date(2020-01-02T10:20:30[Europe/Berlin])|date(2020-01-02T10:20:30[Nowhere/City])|date("2020-01-02")|date(x)|dating|dates(x)
dur(1 day)|dur(1d)|dur( 1 d )|dur(1 day, 2 hours)|dur(1 day 2 hours)|dur(1d2h)|dur(1.5 hours)|dur(-3 min)|dur(1 y)|dur(1 ms)|dur(1 Day)|dur(1 day 1 day)|dur(1 dayx)|dur(1)|dur("1 day")|dur(3 wks 2 secs)|dur(1 mo)|dur(1 yr, 2 mos, 3 w)|duration
from|FROM|where|Where|limit|group|flatten|sort|list|table|fromage|row.where|a.from
größe|ñandú|日本|🎅|🎅-x|x🎅|❤️|👩‍👩‍👧|1a|_a|a_b|a-b|a--b|-a-|a1|é|e\u0301|²|ⅷ|ⓐ
a +|+ a|a b|a, b||(|)|((a))|(a|a)|[a|a]|{a|a}|f(|f(a|f(a,)|a.|a.1|a . b|a. b|a .b|a [0]|a (b)|length (x)|a?b|a:b|a;b|@|#a|$a
`.trim().split(/\n|\|(?![^\[]*\]\])/);

const queries = [
    "LIST", "list", "LiSt", "TABLE", "TASK", "CALENDAR", "CALENDAR file.day", "LISTS", "LIST x", "LIST  x ", "LIST WITHOUT ID", "LIST WITHOUT  ID x",
    "LIST WITHOUTID x", "TABLE WITHOUT ID a, b", "TABLE a,b , c", "TABLE a AS b", "TABLE a as \"B c\", d", "TABLE a AS", "TABLE a b", "TABLE a,",
    "TABLE x\n + 1", "TABLE x\r\n+ 1,y", "LIST FROM #a", "LIST FROM #a/b-c", "LIST FROM #", "LIST FROM #a.b", "LIST FROM \"x\"", "LIST FROM \"\"", "LIST FROM [[x]]", "LIST FROM [[x#y|z]]",
    "LIST FROM [[]]", "LIST FROM outgoing([[x]])", "LIST FROM outgoing( [[x]])", "LIST FROM outgoing([[x]] )", "LIST FROM csv(\"a.csv\")", "LIST FROM -#a", "LIST FROM !#a", "LIST FROM - #a",
    "LIST FROM #a and #b", "LIST FROM #a or #b and #c", "LIST FROM #a & #b | #c", "LIST FROM (#a or #b) and -#c", "LIST FROM ( #a )", "LIST FROM #a, #b", "LIST FROM #a #b", "LIST FROM",
    "LIST FROM x", "LIST FROM #a WHERE b", "LIST WHERE a FROM #b", "LIST FROM #a FROM #b", "LIST WHERE a WHERE b", "LIST SORT a", "LIST x SORT a", "LIST FROM #a SORT a", "LIST FROM #a SORT a DESC",
    "LIST FROM #a SORT a DESC, b ASC , c descending,d ascending", "LIST FROM #a SORT a DESC b", "LIST FROM #a SORT ascending", "LIST FROM #a SORT a ascending", "LIST FROM #a LIMIT 5", "LIST FROM #a LIMIT a + 1",
    "LIST GROUP BY a", "LIST GROUP  BY a", "LIST group by a AS b", "LIST GROUPBY a", "LIST FLATTEN a", "LIST flatten a as b", "LIST FROM #a FLATTEN a AS \"x y\" FLATTEN b", "TASK FROM #a WHERE !completed GROUP BY file.link",
    "TASKFROM #a", "TASK x", "// c\nLIST", "LIST // c", "LIST // c\nFROM #a // d\nWHERE a // e\n// f", "LIST a // c", "LIST a // b\nWHERE c", "LIST a / b", "LIST /* c */", "\n\n LIST \n\n", "", " ", "//", "SELECT a",
    "LIST FROM #a WHERE a = b AND c", "LIST where a", "LIST wheres", "LIST FROM #a LIMIT", "TABLE WITHOUT ID FROM #a", "TABLE a FROM #a WHERE b SORT c LIMIT 1 GROUP BY d FLATTEN e", "LIST row.where", "LIST FROM #日本/größe",
    "LIST FROM #a WHERE (a) => b", "LIST \"a\" + b FROM #c", "TABLE (a) AS b", "TABLE a AS 1", "LIST a AS b", "TABLE a ASC", "LIST FROM \"a\" AND \"b\"", "LIST FROM #a LIMIT 5 SORT a", "LIST FROM #a SORT rating-1 desc",
];

const inline = `
6|-2.5|6 apples|1,000|1, 2, x|"yes", "no"|yes, no|2021-04|2010-11|2021-04-18 04:19|2021-01-01T10:00Z|2021-01-01T10:00:00Z|5 m|5 M|07h00m|9 yrs 8 min|1 day 2|[[A]], [[B]]|[[A]] and b|#a, #b|1,|true|TRUE|today|[1,2]|null|true, false|"a"|"a" b|#|#a b|#a#b|1 , 2|1,2,|1,,2|2020-01-01, 5|![[a]]|[[a|b]]|[[a#b c!]]|2020-13-01|1.5.2|1-2|- 1|5%|$5|16days|1 d, 2 h|1 d, 5|0|00|-0|true x|nullx|2020-01-01T10:20:30+2
`.trim().split(/\|(?![^\[]*\]\])/);

// Pieces put together at random reach forms that are not in a list made by hand.
const pieces = ["a", "b.c", "f(", ")", "(", "[", "]", "[[x]]", "{", "}", "x: 1", ",", " ", " + ", "-", " - ", "*", "=", "!=", "!", " and ", " or ", "1", "2.5", "\"s\"", "true", "null", "(x) => ", "date(today)", "date(2020-01-02)", "dur(1 d)", ".", "[0]", "|", "&", "🎅", "é", "=>", "\n", "// c\n"];
const clausePieces = ["LIST ", "TABLE ", "TASK ", "FROM ", "WHERE ", "SORT ", "LIMIT ", "GROUP BY ", "FLATTEN ", " AS ", "DESC ", "ASC", "#t ", "\"f\" ", "-", "x ", "a, ", "a + 1 ", "WITHOUT ID ", "\n", "// c\n", "[[n]] ", "and ", "or ", "(", ") ", "5 "];
for (let count = 0; count < 1500; count++) {
    expressions.push(Array.from({ length: 1 + random(7) }, () => pick(pieces)).join(""));
    queries.push(pick(clausePieces.slice(0, 3)) + Array.from({ length: random(9) }, () => pick(clausePieces)).join(""));
    inline.push(Array.from({ length: 1 + random(5) }, () => pick(["1", "-2.5", "2020-01-02", "3 days", " ", ", ", ",", "[[a]]", "#t", "\"q\"", "true", "x", "T10:20", "null", "!"])).join(""));
}

const shorthands = { now: "Now", today: "Today", yesterday: "Yesterday", tomorrow: "Tomorrow" };
const withShorthands = (text, tree) => (/date\(\s*today\s*\)/.test(text) ? JSON.parse(JSON.stringify(tree).replaceAll(canonicalToday, JSON.stringify({ shorthand: shorthands.today }))) : tree);
const canonicalToday = JSON.stringify({ literal: typedDate(DateTime.local().startOf("day")) });

for (const text of new Set(expressions)) {
    const parsed = dataview.EXPRESSION.field.parse(text);
    ask({ kind: "field", text }, (answer) => [canonical(folded(answer.tree)), canonical(parsed.status ? withShorthands(text, field(parsed.value)) : null)]);
}
const everything = { folder: "" };
for (const text of new Set(queries)) {
    const parsed = dataview.QUERY_LANGUAGE.query.parse(text);
    // A group of this name is our own error, because it breaks the original.
    if (parsed.status && parsed.value.operations.some((step) => step.type === "group" && step.field.name === "rows")) continue;
    ask({ kind: "query", text }, (answer) => {
        const tree = answer.tree && { ...answer.tree, source: answer.tree.source ?? everything };
        return [canonical(folded(tree)), canonical(parsed.status ? withShorthands(text, query(parsed.value)) : null)];
    });
}
for (const text of new Set(inline)) {
    const trimmed = text.trim();
    const parsed = dataview.EXPRESSION.inlineField.parse(trimmed);
    const expected = trimmed === "" ? null : parsed.status ? typed(parsed.value) : trimmed;
    ask({ kind: "inline", text }, (answer) => [canonical(rawDurations(answer.value)), canonical(rawDurations(expected))]);
}
// Durations are normalised and headings of links written anew where fields are read, not where they are recognised.
function rawDurations(value) {
    if (Array.isArray(value)) return value.map(rawDurations);
    if (value?.$duration) return { $duration: Math.round(Duration.fromObject(value.$duration).toMillis()) };
    if (value?.$link?.subpath) return { $link: { ...value.$link, subpath: value.$link.subpath.replace(/[^\p{L}0-9_-]+/gu, " ").trim() } };
    return value;
}

// ---- Values ----

const same = (text, expected, zone) => ask({ kind: "value", text, zone }, (answer) => [canonical("value" in answer ? answer.value : answer), canonical(expected)]);
const quoted = (text) => `"${text.replace(/[\\"]/g, "\\$&")}"`;
const number = (value) => (Number.isFinite(value) ? value : { $number: String(value) });

const written = (value) => value.toFixed(0).length < 300 && `${value}`.match(/^-?\d+(\.\d+)?$/);
for (let count = 0; count < 800; count++) {
    const value = (random(2_000_000) - 1_000_000) / pick([1, 7, 10, 100, 1000, 1024, 99991]);
    if (!written(value)) continue;
    const power = pick([1, 1, 1e3, 1e9, 1e18]);
    same(`string(${value} * ${power})`, String(value * power));
    const digits = random(6);
    same(`round(${value}, ${digits})`, digits > 0 ? number(parseFloat(value.toFixed(digits))) : number(Math.round(value)));
    same(`currencyformat(${value}, "EUR")`, new Intl.NumberFormat("en-US", { style: "currency", currency: "EUR" }).format(value));
}
for (const code of Intl.supportedValuesOf("currency").concat(["XXZ", "eur"])) {
    same(`currencyformat(1234.5678, "${code}")`, new Intl.NumberFormat("en-US", { style: "currency", currency: code }).format(1234.5678));
}

const letters = ["a", "A", "b", "B", "é", "e", "ß", "ss", "ä", "Z", "z", "0", "9", "10", " ", "_", "-", ".", ",", "'", "石", "ж", "😀", "ñ", "n", "(", "#", "/", "&", "@", "~", "$", "+", "=", "<", "|", "^", "`", "%", "{", "}"];
for (let count = 0; count < 1500; count++) {
    const text = () => Array.from({ length: random(5) }, () => pick(letters)).join("");
    const [left, right] = [text(), text()];
    const order = left.localeCompare(right);
    same(`[${quoted(left)} < ${quoted(right)}, ${quoted(left)} = ${quoted(right)}]`, [order < 0, order === 0]);
}

const patterns = ["a", "a+", "[ab]", "(a)(b)?", "\\w", "\\W", "\\b", "\\d+", "\\s", "^a", "a$", "a|b", "(?:a|ab)(?:c|bcd)", "x*", "(?=b)", "(?<!a)b", ".", "[^a]", "(a)\\1", "a{2}", "a{1,2}?", "é", "[é-ü]", "\\.", "", "(?<n>a)", "[]", "[^]", "\\u0061", "a{,2}", "]", "}"];
const subjects = ["", "a", "ab", "aab", "abc", "abcd", "a b", "é", "aé b", "b1a2", "xaxbx", "a\nb", "foo_bar", "a.b", "a{,2}", "]"];
const news = ["", "-", "$1", "[$&]", "$$", "$<n>", "$2$1", "$`", "$'", "$0", "$10"];
for (const pattern of patterns) {
    for (const subject of subjects) {
        same(`regextest(${quoted(pattern)}, ${quoted(subject)})`, new RegExp(pattern).test(subject));
        same(`split(${quoted(subject)}, ${quoted(pattern)})`, subject.split(new RegExp(pattern)).map((part) => part || ""));
        const replacement = pick(news);
        same(`regexreplace(${quoted(subject)}, ${quoted(pattern)}, ${quoted(replacement)})`, subject.replace(new RegExp(pattern, "g"), replacement));
    }
}
for (const broken of ["[", "(", ")", "*", "a**", "\\", "a{2,1}", "[b-a]", "(?x)", "(?<1>a)", "(?<a>)(?<a>)", "(?<a>)\\k<b>", "+", "?", "{1}", "(?", "a|*"]) {
    let message;
    try { new RegExp(broken); } catch (error) { message = error.message; }
    same(`regextest(${quoted(broken)}, "a")`, { error: message });
}

const formats = ["yyyy-MM-dd", "D", "DD", "DDD", "DDDD", "t", "tt", "T", "TT", "f", "ff", "F", "FF", "HH:mm:ss.SSS", "h:mm a", "EEEE d MMMM y", "ccc LLL", "kkkk-'W'WW-c", "o ooo q qq", "X", "x", "Z ZZ ZZZ z", "YYYY-MM-DD", "'it''s' yy", "S u uu uuu", "G GG GGGGG", "yyyyy yyyyyy", "EEEEE MMMMM", "ZZZZ", "ttt", "fff"];
const durationFormats = ["h:mm", "d hh mm ss", "M d", "y M w d h m s S", "S", "ss", "w", "mmm", "'x' m"];
// The local zone is none by its name, and has no offset that is fixed.
for (const [zone, luxonZone] of [["UTC", "system"], ["America/New_York"], ["Europe/Berlin"]].map(([name, other]) => [name, other ?? name])) {
    const day = () => DateTime.fromObject({ year: 1990 + random(60), month: 1 + random(12), day: 1 + random(28), hour: random(24), minute: random(60), second: random(60), millisecond: random(1000) }, { zone: luxonZone });
    const local = (date) => date.toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS");
    const length = () => {
        const parts = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"].filter(() => random(3) === 0);
        const object = Object.fromEntries(parts.map((unit) => [unit, (random(200) - 60) / pick([1, 1, 1, 2, 4])]));
        return Object.keys(object).length ? object : { days: random(500) };
    };
    const spelled = (object) => Object.entries(object).map(([unit, amount]) => `${amount} ${unit}`).join(", ");
    const normalised = (duration) => duration.shiftToAll().normalize();
    const human = (duration) => Duration.fromObject(Object.fromEntries(Object.entries(normalised(duration).toObject()).filter(([, amount]) => amount !== 0))).toHuman();
    for (let count = 0; count < 250; count++) {
        const [first, second, object] = [day(), day(), length()];
        const iso = (date) => date.toFormat("yyyy-MM-dd HH:mm:ss.SSS ZZ");
        const shown = (expression) => `dateformat(${expression}, "yyyy-MM-dd HH:mm:ss.SSS ZZ")`;
        same(shown(`date(${quoted(local(first))}) + dur(${quoted(spelled(object))})`), iso(DateTime.fromISO(local(first), { zone: luxonZone }).plus(object)), zone);
        same(shown(`date(${quoted(local(first))}) - dur(${quoted(spelled(object))})`), iso(DateTime.fromISO(local(first), { zone: luxonZone }).minus(object)), zone);
        const between = DateTime.fromISO(local(first), { zone: luxonZone }).diff(DateTime.fromISO(local(second), { zone: luxonZone }), ["years", "months", "days", "hours", "minutes", "seconds", "milliseconds"]);
        same(`string(date(${quoted(local(first))}) - date(${quoted(local(second))}))`, human(between), zone);
        same(`string(dur(${quoted(spelled(object))}))`, human(Duration.fromObject(object)), zone);
        same(`dur(${quoted(spelled(object))}) * 1.5`, typedDuration(normalised(Duration.fromObject(object).mapUnits((amount) => amount * 1.5))), zone);
        const unit = pick(["years", "months", "weeks", "days", "hours", "minutes", "seconds", "milliseconds"]);
        same(`dur(${quoted(spelled(object))}).${unit}`, number(Duration.fromObject(object).shiftTo(unit)[unit]), zone);
        const durationFormat = pick(durationFormats);
        same(`durationformat(dur(${quoted(spelled(object))}), ${quoted(durationFormat)})`, Duration.fromObject(object).toFormat(durationFormat), zone);
        const format = pick(formats);
        same(`dateformat(date(${quoted(local(first))}), ${quoted(format)})`, DateTime.fromISO(local(first), { zone: luxonZone }).toFormat(format, { locale: "en-US" }), zone);
        for (const part of ["year", "month", "day", "weekday"]) same(`date(${quoted(local(first))}).${part}`, first[part], zone);
        same(`date(${quoted(local(first))}).weekyear`, DateTime.fromISO(local(first), { zone: luxonZone }).weekNumber, zone);
        const readable = pick(["yyyy-MM-dd HH:mm", "d MMMM yyyy", "MMM d, yy", "kkkk-'W'WW-c", "yyyy ooo", "h:mm a dd.MM.yyyy", "D", "ff", "cccc d LLLL y", "yyyy-MM-dd ZZ", "q yyyy", "HH:mm"]);
        const text = first.toFormat(readable);
        const clock = DateTime.fromISO("2026-05-13T10:30:00Z", { zone: luxonZone });
        const parsed = DateTime.fromFormat(text, readable, { zone: luxonZone });
        // Only the clock knows the day of a time.
        if (parsed.isValid && readable !== "HH:mm") same(shown(`date(${quoted(text)}, ${quoted(readable)})`), iso(parsed), zone);
        if (readable === "HH:mm") same(`dateformat(date(${quoted(text)}, "HH:mm"), "yyyy-MM-dd HH:mm")`, `${clock.toFormat("yyyy-MM-dd")} ${text}`, zone);
    }
}

const run = spawnSync(program, { input: questions.map(({ question }) => JSON.stringify(question)).join("\n") + "\n", maxBuffer: 1 << 30, encoding: "utf8" });
const answers = run.stdout.trimEnd().split("\n");
if (run.status !== 0 || answers.length !== questions.length) {
    console.log(`${program}: ${answers.length} answers to ${questions.length} questions (exit code ${run.status}) ${run.error ?? ""} ${run.stderr}`);
    console.log("0 passed, 1 failed");
    process.exit(1);
}
answers.forEach((line, at) => {
    const [found, expected] = questions[at].expected(JSON.parse(line));
    if (found === expected) passed++;
    else failures.push(`${JSON.stringify(questions[at].question)}\n    expected ${expected}\n    found    ${found}`);
});
console.log(failures.slice(0, Number(process.env.SHOWN ?? 20)).join("\n"));
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
