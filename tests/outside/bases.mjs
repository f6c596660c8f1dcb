// Compares expressions of Obsidian Bases with what they are made of in the app: JavaScript for numbers, texts, order and
// regular expressions, and Moment for formats of dates and for durations as text.
//
//     MODULES=node_modules ANSWERS=bases_answers node bases.mjs
//
// The answers are given by the example `bases_answers` of the crate `bases`.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";

process.env.TZ = "UTC";
const require = createRequire(join(process.env.MODULES, "x.js"));
const moment = require("moment");
const program = process.env.ANSWERS;

const questions = [];
// Always the same, so that nothing fails by chance.
let seed = 20261117;
const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % below;
};
const pick = (list) => list[random(list.length)];

const quoted = (text) => JSON.stringify(text);
const shown = (number) => (number === Infinity ? "∞" : number === -Infinity ? "-∞" : String(number));
const ask = (text, expected, more = {}) => questions.push({ question: { text, ...more }, expected: JSON.stringify(expected), of: "value" });
const askText = (text, expected, more = {}) => questions.push({ question: { text, ...more }, expected: JSON.stringify(expected), of: "text" });

// ---- Numbers ----

const written = (value) => /^\d+(\.\d+)?$/.test(String(Math.abs(value)));
const literal = (value) => (value < 0 ? `(-${Math.abs(value)})` : `(${value})`);
for (let count = 0; count < 900; count++) {
    const value = (random(2_000_000) - 1_000_000) / pick([1, 7, 10, 100, 1000, 1024, 99991]);
    const other = (random(2_000) - 1_000) / pick([1, 3, 8]);
    if (!written(value) || !written(other)) continue;
    const power = pick([1, 1, 1e3, 1e9, 1e18]);
    askText(`(${literal(value)} * ${power}).toString()`, String(value * power));
    for (const [sign, result] of [["+", value + other], ["-", value - other], ["*", value * other], ["/", value / other], ["%", value % other]]) {
        askText(`(${literal(value)} ${sign} ${literal(other)}).toString()`, shown(result));
    }
    const digits = random(6);
    askText(`${literal(value)}.toFixed(${digits})`, value.toFixed(digits));
    askText(`${literal(value)}.round()`, shown(Math.round(value)));
    for (const [name, result] of [["abs", Math.abs(value)], ["ceil", Math.ceil(value)], ["floor", Math.floor(value)]]) {
        askText(`${literal(value)}.${name}()`, shown(result));
    }
    askText(`min(${value < 0 ? 0 : value}, ${other < 0 ? 1 : other})`, shown(Math.min(value < 0 ? 0 : value, other < 0 ? 1 : other)));
}
for (const text of ["0", "1", " 7 ", "12.5", "1e3", "0x10", "0b11", "0o7", "-3", "+4", ".5", "5.", "Infinity", "-Infinity", "1,000", "nope", "1 2", "1_0", "٣"]) {
    const number = Number(text);
    if (Number.isNaN(number)) questions.push({ question: { text: `number(${quoted(text)})` }, expected: JSON.stringify(`Unable to parse "${text}" as a number.`), of: "error" });
    else askText(`number(${quoted(text)})`, shown(number));
}

// ---- Equality and relations of JavaScript ----

const primitives = [["1", 1], ["0", 0], ["(-1)", -1], ["2.5", 2.5], ["10", 10], ["true", true], ["false", false], ...["", "0", "1", "10", "9", "a", "A", "b", "abc", " 1 ", "true", "é", "😀", "～", "1e1", "-1"].map((text) => [quoted(text), text])];
for (const [left, leftValue] of primitives) {
    for (const [right, rightValue] of primitives) {
        ask(`${left} == ${right}`, leftValue == rightValue);
        ask(`${left} != ${right}`, leftValue != rightValue);
        // Booleans are compared by their texts; all else as JavaScript does.
        const plain = (value) => (typeof value === "boolean" ? String(value) : value);
        const [a, b] = [plain(leftValue), plain(rightValue)];
        ask(`${left} < ${right}`, a < b);
        ask(`${left} > ${right}`, a > b);
        ask(`${left} <= ${right}`, a <= b);
        ask(`${left} >= ${right}`, a >= b);
    }
}

// ---- Texts ----

const subjects = ["", "a", "ab", "abc", "Hello World", "a,b,,c", "a b  c", "  x\t", "é ÉCOLE", "straße", "foo_bar-baz", "a\nb", "x.y.z", "1a2b3c", "İI", "ΑΣ"];
for (const text of subjects) {
    ask(`${quoted(text)}.length`, text.length);
    ask(`${quoted(text)}.lower()`, text.toLowerCase());
    ask(`${quoted(text)}.trim()`, text.trim());
    for (const part of ["", "a", "b", "l", "World", ",", " ", "é", "."]) {
        ask(`${quoted(text)}.contains(${quoted(part)})`, text.includes(part));
        ask(`${quoted(text)}.startsWith(${quoted(part)})`, text.startsWith(part));
        ask(`${quoted(text)}.endsWith(${quoted(part)})`, text.endsWith(part));
        ask(`${quoted(text)}.split(${quoted(part)})`, text.split(part));
        ask(`${quoted(text)}.replace(${quoted(part)}, "-")`, text.replaceAll(part, "-"));
    }
    for (const start of [0, 1, 2, 99, -1, -2, -99]) {
        ask(`${quoted(text)}.slice(${literal(start)})`, text.slice(start));
        for (const end of [0, 1, 3, -1, -3]) ask(`${quoted(text)}.slice(${literal(start)}, ${literal(end)})`, text.slice(start, end));
    }
    for (const limit of [0, 1, 2, 9]) ask(`${quoted(text)}.split(",", ${limit})`, text.split(",", limit));
    for (const times of [0, 1, 3]) ask(`${quoted(text)}.repeat(${times})`, text.repeat(times));
}
for (const list of [[1, 2, 3], [], ["a", "b"], [3, 1, 2, 10], [1, [2, [3]]]]) {
    const spelled = JSON.stringify(list);
    ask(`${spelled}.length`, list.length);
    ask(`${spelled}.reverse()`, [...list].reverse());
    ask(`${spelled}.flat()`, list.flat());
    for (const start of [0, 1, -1, -9]) ask(`${spelled}.slice(${literal(start)})`, list.slice(start));
    for (const end of [0, 2, -1]) ask(`${spelled}.slice(0, ${literal(end)})`, list.slice(0, end));
}

// ---- Order of texts ----

const letters = ["a", "A", "b", "B", "é", "e", "ß", "ss", "ä", "Z", "z", "0", "9", "10", " ", "_", "-", ".", ",", "'", "石", "ж", "ñ", "n", "(", "#", "/", "&"];
for (let count = 0; count < 400; count++) {
    const words = Array.from({ length: 2 + random(5) }, () => Array.from({ length: 1 + random(3) }, () => pick(letters)).join(""));
    ask(`${JSON.stringify(words)}.sort()`, [...words].sort((a, b) => a.localeCompare(b)));
}

// ---- Regular expressions ----

const patterns = ["a", "a+", "[ab]", "(a)(b)?", "\\w", "\\W", "\\b", "\\d+", "\\s", "^a", "a$", "a|b", "x*", "(?=b)", "(?<!a)b", ".", "[^a]", "(a)\\1", "a{2}", "é", "\\.", "(?<n>a)", "[/]", "a\\/b", "(?:a|ab)(?:c|bcd)"];
const news = ["", "-", "$1", "[$&]", "$$", "$<n>", "$2$1", "$`", "$'", "$0", "$10"];
for (const pattern of patterns) {
    for (const subject of ["", "a", "ab", "aab", "abc", "abcd", "a b", "é", "b1a2", "xaxbx", "a\nb", "foo_bar", "a.b", "a/b"]) {
        for (const flags of ["", "g", "i", "gi", "m"]) {
            const regexp = new RegExp(pattern, flags);
            const replacement = pick(news);
            ask(`${quoted(subject)}.replace(/${pattern}/${flags}, ${quoted(replacement)})`, subject.replace(regexp, replacement));
        }
        ask(`/${pattern}/.matches(${quoted(subject)})`, new RegExp(pattern).test(subject));
        ask(`${quoted(subject)}.split(/${pattern}/)`, subject.split(new RegExp(pattern)).map((part) => part ?? ""));
    }
}

// ---- Dates and durations of Moment ----

const formats = ["YYYY-MM-DD", "YY Q Qo", "M MM MMM MMMM Mo", "D DD Do", "DDD DDDD DDDo", "d dd ddd dddd do", "e E", "w ww wo", "W WW Wo", "gggg gg GGGG GG", "H HH h hh k kk", "m mm s ss", "S SS SSS SSSS", "a A", "X x", "Z ZZ", "L LL LLL LLLL", "l ll lll llll", "LT LTS", "[text] YYYY", "[at] h:mm A", "YYYY[YYYY]", "Y YYYYY YYYYYY", "N NNNN", "Hmm hmmss", "y yy", "\\[YYYY]", "dddd, MMMM Do YYYY, h:mm:ss a", "foo", ""];
for (const zone of ["UTC"]) {
    for (let count = 0; count < 400; count++) {
        const date = moment.utc({ year: 1975 + random(90), month: random(12), day: 1 + random(28), hour: random(24), minute: random(60), second: random(60) });
        const text = date.format("YYYY-MM-DD HH:mm:ss");
        const format = pick(formats);
        if (format !== "") ask(`date("${text}").format(${quoted(format)})`, moment(date).format(format), { zone });
        ask(`date("${text}").time()`, date.format("HH:mm:ss"), { zone });
        for (const field of ["year", "month", "day", "hour", "minute", "second"]) {
            ask(`date("${text}").${field}`, { year: date.year(), month: date.month() + 1, day: date.date(), hour: date.hour(), minute: date.minute(), second: date.second() }[field], { zone });
        }
        const now = moment.utc("2026-06-10T07:17:08.070Z");
        const distance = pick([45, 90, 3000, 5400, 80_000, 130_000, 2_300_000, 4_000_000, 30_000_000, 50_000_000, 900_000_000]);
        const near = moment(now).add(random(2 * distance) - distance, "seconds").milliseconds(0);
        askText(`date("${near.format("YYYY-MM-DD HH:mm:ss")}").relative()`, near.from(now), { zone });
        const [amount, unit] = [random(90), pick(["y", "M", "w", "d", "h", "m", "s"])];
        askText(`duration("${amount}${unit}")`, moment.duration(amount, unit).humanize(), { zone });
        const [sign, method] = pick([["+", "add"], ["-", "subtract"]]);
        askText(`date("${text}") ${sign} "${amount}${unit}"`, moment(date)[method](amount, unit).format("YYYY-MM-DDTHH:mm:ss"), { zone });
        const other = moment.utc({ year: 1975 + random(90), month: random(12), day: 1 + random(28), hour: random(24) });
        askText(`date("${text}") - date("${other.format("YYYY-MM-DD HH:mm:ss")}")`, moment.duration(date.diff(other)).humanize(), { zone });
        ask(`(date("${text}") - date("${other.format("YYYY-MM-DD HH:mm:ss")}")).hours`, date.diff(other, "hours", true), { zone });
    }
}

// Where clocks change and offsets are not whole hours, Moment takes the zone of the process.
for (const zone of ["Australia/Melbourne", "America/New_York", "America/St_Johns"]) {
    process.env.TZ = zone;
    for (let count = 0; count < 150; count++) {
        const text = moment({ year: 1975 + random(90), month: random(12), day: 1 + random(28), hour: random(24), minute: random(60) }).format("YYYY-MM-DD HH:mm:ss");
        const date = moment(text);
        askText(`date("${text}").format("YYYY-MM-DD HH:mm Z ZZ X")`, date.format("YYYY-MM-DD HH:mm Z ZZ X"), { zone });
        ask(`number(date("${text}"))`, date.valueOf(), { zone });
        const [amount, unit] = [random(60) - 20, pick(["y", "M", "w", "d", "h", "m"])];
        const [sign, method] = pick([["+", "add"], ["-", "subtract"]]);
        ask(`(date("${text}") ${sign} "${amount}${unit}").timestamp`, moment(date)[method](amount, unit).valueOf(), { zone });
        const day = date.format("YYYY-MM-DD");
        askText(`date("${day}") ${sign} "${amount}d"`, moment(day)[method](amount, "d").format("YYYY-MM-DD"), { zone });
        askText(`date("${text}").relative()`, date.from(moment("2026-06-10T07:17:08.070Z")), { zone });
    }
}
process.env.TZ = "UTC";

// A list or object of another language is compared by how JSON writes it.
const plain = (value) => (value && typeof value === "object" && "$number" in value ? value.$number : value);
const run = spawnSync(program, { input: questions.map(({ question }) => JSON.stringify(question)).join("\n") + "\n", maxBuffer: 1 << 30, encoding: "utf8" });
const answers = run.stdout.trimEnd().split("\n");
if (run.status !== 0 || answers.length !== questions.length) {
    console.log(`${program}: ${answers.length} answers to ${questions.length} questions (exit code ${run.status}) ${run.error ?? ""} ${run.stderr}`);
    console.log("0 passed, 1 failed");
    process.exit(1);
}
let passed = 0;
const failures = [];
answers.forEach((line, at) => {
    const { question, expected, of } = questions[at];
    const answer = JSON.parse(line);
    const found = JSON.stringify(of in answer ? plain(answer[of]) : answer);
    if (found === expected) passed++;
    else failures.push(`${JSON.stringify(question)}\n    expected ${expected}\n    found    ${found}`);
});
console.log(failures.slice(0, Number(process.env.SHOWN ?? 20)).join("\n"));
console.log(`${passed} passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
