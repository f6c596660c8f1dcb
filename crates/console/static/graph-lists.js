// The lists beside the picture: the notes that are shown, and one note with its neighbours. As the server draws them.

/** @typedef {import("./graph.js").GraphView} GraphView */

/** @param {string} tag @param {Record<string, string>} properties @param {...(Node | string)} children */
function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
    element.append(...children);
    return element;
}

/** @param {number} bytes */
function size(bytes) {
    const units = ["bytes", "KB", "MB", "GB"];
    let [at, number] = [0, bytes];
    while (number >= 1000 && at < 3) [at, number] = [at + 1, number / 1000];
    return `${at > 0 && number < 10 ? number.toFixed(1) : Math.round(number)} ${units[at]}`;
}

/** @param {number} seconds */
function time(seconds) {
    if (seconds === 0) return make("span", {}, "unknown");
    const moment = new Date(seconds * 1000);
    return make("time", { datetime: moment.toISOString() }, moment.toISOString().slice(0, 10));
}

/** A link that shows a note in the panel, and lights it while it has the focus. @param {GraphView} graph @param {number} note */
function noteLink(graph, note) {
    const { path, name } = graph.known.get(note) ?? { path: "", name: `note ${note}` };
    const link = make("a", { href: graph.address("/console/graph", { note: path }), title: path }, name);
    link.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        graph.choose(note);
    });
    for (const on of ["focus", "pointerenter"]) link.addEventListener(on, () => graph.point(note));
    for (const off of ["blur", "pointerleave"]) link.addEventListener(off, () => graph.point(-1));
    return link;
}

/** @param {GraphView} graph @param {number[]} notes @param {number} count */
export function showFound(graph, notes, count) {
    const section = document.querySelector("#found");
    const heading = make("h2", {}, "Notes ", make("span", { class: "soft" }, `(${count})`));
    if (notes.length === 0) {
        section?.replaceChildren(heading, make("p", { class: "empty" }, "No note fits the filter."));
        return;
    }
    const rows = notes.map((note) => make("tr", { class: "row" }, make("td", {}, noteLink(graph, note)),
        make("td", { class: "right" }, String(graph.data.degree[note]), make("span", { class: "unit" }, graph.data.degree[note] === 1 ? " link" : " links")),
        make("td", {}, time(graph.data.changed[note])), make("td", { class: "right" }, size(graph.data.bytes[note]))));
    const head = [["Note", ""], ["Links", "right"], ["Changed", ""], ["Size", "right"]];
    const table = make("table", { class: "list notes" }, make("caption", { class: "unseen" }, "Notes, those with the most links first"),
        make("thead", {}, make("tr", {}, ...head.map(([name, kind]) => make("th", { scope: "col", class: kind }, name)))), make("tbody", {}, ...rows));
    const more = count > notes.length ? [make("p", { class: "hint" }, `The ${notes.length} with the most links. Filter to see others.`)] : [];
    section?.replaceChildren(heading, table, ...more);
}

/** @param {GraphView} graph @param {string} title @param {number[]} notes */
function neighbours(graph, title, notes) {
    const heading = make("h3", {}, `${title} `, make("span", { class: "soft" }, `(${notes.length})`));
    if (notes.length === 0) return [heading, make("p", { class: "soft" }, "No other note.")];
    return [heading, make("ul", { class: "names" }, ...notes.slice(0, 200).map((note) => make("li", {}, noteLink(graph, note))))];
}

/** @param {string} name @param {Node | string} value */
const fact = (name, value) => make("div", {}, make("dt", {}, name), make("dd", {}, value));

/** @param {GraphView} graph @param {number} note @param {number[]} targets @param {number[]} sources */
export function showPanel(graph, note, targets, sources) {
    const { data } = graph;
    const known = graph.known.get(note);
    if (!known) return;
    const tags = [...data.tagsOf(note)].map((tag) => data.names.tags[tag]);
    const links = [
        make("a", { href: `obsidian://open?vault=${encodeURIComponent(graph.vaultInObsidian)}&file=${encodeURIComponent(known.path)}` }, "Open in Obsidian"),
        make("a", { href: graph.address("/console/history", { note: known.path }) }, "History"),
        make("a", { href: graph.address("/console/activity", { note: known.path }) }, "Activity"),
    ];
    const field = /** @type {HTMLInputElement} */ (make("input", { id: "to", name: "to", autocomplete: "off" }));
    const way = make("div", { role: "status" });
    const form = make("form", { class: "way" }, make("label", { for: "to" }, "Way to another note"), make("div", { class: "joined" }, field, make("button", {}, "Find")));
    form.addEventListener("submit", (event) => {
        event.preventDefault();
        graph.findWay(field.value, (/** @type {number[] | null} */ notes, /** @type {boolean} */ isKnown) => {
            if (notes) way.replaceChildren(make("ol", { class: "names" }, ...notes.map((note) => make("li", {}, noteLink(graph, note)))));
            else way.textContent = isKnown ? "No links lead from one to the other." : "No note, or more than one, is called that. Give its path.";
        });
    });
    document.querySelector("#panel")?.replaceChildren(
        make("h2", {}, known.name), make("p", { class: "path" }, known.folder ? `${known.folder}/${known.name}.md` : `${known.name}.md`),
        make("dl", { class: "facts" }, fact("Links", String(data.degree[note])), fact("Size", size(data.bytes[note])),
            fact("Changed", time(data.changed[note])), fact("Made", time(data.made[note]))),
        ...(tags.length > 0 ? [make("p", {}, ...tags.flatMap((tag) => [make("a", { href: graph.address("/console/graph", { tag }) }, `#${tag}`), " "]))] : []),
        make("p", { class: "views-of" }, ...links),
        ...neighbours(graph, "Links to", targets), ...neighbours(graph, "Linked from", sources), form, way);
}
