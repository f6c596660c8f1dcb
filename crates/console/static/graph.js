// The picture of the link graph: what a person does with it, and the lists beside it. The page says the same without a script.
// Text of others is only ever set with `textContent`.
import { GraphData } from "./graph-data.js";
import { Camera } from "./graph-camera.js";
import { ageGroups, folderGroups, tagGroups } from "./graph-groups.js";
import { showFound, showPanel } from "./graph-lists.js";
import { svgOf } from "./graph-svg.js";

/** @template {Element} T @param {string} id @param {new () => T} type */
function element(id, type) {
    const found = document.getElementById(id);
    if (!(found instanceof type)) throw new Error(`the page has no ${id}`);
    return found;
}

const picture = element("picture", HTMLElement);
const stage = element("stage", HTMLCanvasElement);
const state = element("stage-state", HTMLElement);
const filter = element("filter", HTMLFormElement);
const until = element("until", HTMLInputElement);
const DAY = 86400;

/** @param {string} name */
const field = (name) => /** @type {HTMLInputElement | HTMLSelectElement | null} */ (filter.elements.namedItem(name))?.value ?? "";

/** An address of this vault. @param {string} path @param {Record<string, string>} [parameters] */
function address(path, parameters = {}) {
    const query = new URLSearchParams(parameters);
    if (field("vault")) query.set("vault", field("vault"));
    return query.size > 0 ? `${path}?${query}` : path;
}

/** @param {string} name */
const colour = (name) => getComputedStyle(picture).getPropertyValue(`--${name}`).trim();
/** @param {string} name */
function rgb(name) {
    const digits = colour(name).replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3");
    return Number.parseInt(digits.slice(1), 16);
}
const GROUPS = [0, 1, 2, 3, 4, 5, 6];

/** Waits for the places, which may take a while after the first start. @returns {Promise<ArrayBuffer | null>} */
async function load(asked = false) {
    const answer = await fetch(address("/console/graph.bin", asked ? { asked: "1" } : {}));
    if (answer.status === 200) return answer.arrayBuffer();
    const told = await answer.json();
    if (told.asks !== undefined) {
        state.textContent = `Drawing ${told.asks} notes takes some minutes. `;
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = "Draw them";
        state.append(button);
        await new Promise((done) => button.addEventListener("click", done, { once: true }));
        return load(true);
    }
    if (told.working === undefined) {
        state.textContent = told.problem ?? "This vault is too large for a picture. The lists below show it.";
        return null;
    }
    for (let working = told.working; typeof working === "number";) {
        state.textContent = `The notes are being arranged: ${working} %`;
        await new Promise((done) => setTimeout(done, 150));
        working = (await (await fetch(address("/console/graph/progress"))).json()).working;
    }
    return load(asked);
}

/** The one script that the policy of this page lets be started. @returns {string} */
function workerAddress() {
    const address = picture.dataset.worker ?? "";
    const types = /** @type {any} */ (window).trustedTypes;
    return types ? types.createPolicy("graph-worker", { createScriptURL: () => address }).createScriptURL("") : address;
}

export class GraphView {
    /** @param {ArrayBuffer} bytes */
    constructor(bytes) {
        this.data = new GraphData(bytes);
        this.shown = new Uint8Array(this.data.count).fill(1);
        /** @type {Uint8Array} The colour of each note. */
        this.groups = new Uint8Array(this.data.count);
        /** @type {Map<number, {path: string, name: string, folder: string}>} */
        this.known = new Map();
        /** Whose paths contain the words that are looked for. @type {Set<number> | null} */
        this.found = null;
        /** The note in the panel, and the one under the pointer. */
        this.chosen = -1;
        this.pointed = -1;
        /** @type {number[]} */
        this.way = [];
        this.address = address;
        this.vaultInObsidian = picture.dataset.obsidian ?? "";
        this.worker = new Worker(workerAddress(), { type: "module" });
        this.worker.addEventListener("message", ({ data }) => this.take(data));
        const canvas = stage.transferControlToOffscreen();
        this.worker.postMessage({ kind: "start", canvas, bytes }, [canvas]);
        this.camera = new Camera(stage, this.data, {
            moved: (view) => this.worker.postMessage({ kind: "view", view }),
            sized: (width, height, ratio) => this.worker.postMessage({ kind: "size", width, height, ratio }),
            pointed: (note) => this.point(note),
            chosen: (note) => this.choose(note),
            isShown: (note) => this.shown[note] === 1,
        });
        this.setLook();
        this.setGroups();
    }

    /** @param {any} message */
    async take(message) {
        if (message.kind === "names") this.sendNames(await this.names(message.notes));
        if (message.kind === "saved") download(message.blob, "graph.png");
    }

    setLook() {
        const look = { ground: rgb("drawn-ground"), link: rgb("drawn-link"), accent: rgb("drawn-accent"), ink: rgb("drawn-ink"), groups: GROUPS.map((group) => rgb(`group-${group}`)) };
        this.worker.postMessage({ kind: "look", look });
    }

    setGroups() {
        const by = element("colours", HTMLSelectElement).value;
        const { groups, legend } = by === "tag" ? tagGroups(this.data) : by === "age" ? ageGroups(this.data, Date.now() / 1000) : folderGroups(this.data);
        this.groups = groups;
        this.worker.postMessage({ kind: "groups", groups });
        element("legend", HTMLUListElement).replaceChildren(...legend.map(({ group, name, count }) => {
            const item = document.createElement("li");
            const swatch = document.createElement("span");
            swatch.className = `swatch g${group}`;
            item.append(swatch, `${name} (${count})`);
            return item;
        }));
    }

    /** Which notes the filter and the time leave. */
    setShown() {
        const { data } = this;
        const folder = field("folder"), tag = field("tag").toLowerCase(), days = Number(field("days"));
        const tags = new Set(data.names.tags.flatMap((name, at) => {
            const folded = name.toLowerCase();
            return folded === tag || folded.startsWith(`${tag}/`) ? [at] : [];
        }));
        const folders = data.names.folders.map((name) => !folder || name === folder || name.startsWith(`${folder}/`));
        const since = days ? Date.now() / 1000 - days * DAY : 0;
        const latest = (Number(until.value) + 1) * DAY;
        const only = field("links") === "none";
        const shown = new Uint8Array(data.count);
        for (let note = 0; note < data.count; note += 1) {
            shown[note] = Number(folders[data.folder[note]] && data.made[note] < latest && data.changed[note] >= since
                && (!tag || data.tagsOf(note).some((own) => tags.has(own)))
                && (!only || data.degree[note] === 0)
                && (!this.found || this.found.has(note)));
        }
        this.shown = shown;
        this.worker.postMessage({ kind: "shown", shown: shown.slice() });
        const date = new Date(Number(until.value) * DAY * 1000).toISOString().slice(0, 10);
        element("until-date", HTMLOutputElement).textContent = date;
        this.list();
    }

    /** The list beside the picture. */
    async list() {
        const { data } = this;
        const fitting = [...data.byDegree].filter((note) => this.shown[note]);
        const first = fitting.slice(0, 50);
        await this.names(first);
        if (first.every((note) => this.shown[note])) showFound(this, first, fitting.length);
    }

    /** Names of notes, asked for once. @param {number[]} notes */
    async names(notes) {
        const unknown = notes.filter((note) => !this.known.has(note));
        for (let at = 0; at < unknown.length; at += 200) {
            const numbers = unknown.slice(at, at + 200).join(",");
            const answer = await fetch(address("/console/graph/names", { numbers }));
            if (!answer.ok) break;
            const told = await answer.json();
            if (told.mark !== this.data.names.mark) {
                state.textContent = "Notes have been added or removed. Reload the page to see them.";
                break;
            }
            for (const { number, path, name, folder } of told.notes) this.known.set(number, { path, name, folder });
        }
        return notes;
    }

    /** @param {number[]} notes */
    sendNames(notes) {
        const names = notes.flatMap((note) => {
            const known = this.known.get(note);
            return known ? [[note, known.name]] : [];
        });
        this.worker.postMessage({ kind: "names", names });
    }

    /** The address says what is shown, so that it can be kept. */
    remember() {
        /** @type {Record<string, string>} */
        const parameters = {};
        for (const name of ["find", "folder", "tag", "days", "links"]) {
            if (field(name)) parameters[name] = field(name);
        }
        const note = this.known.get(this.chosen)?.path;
        if (note) parameters.note = note;
        history.replaceState(null, "", address("/console/graph", parameters));
    }

    /** Looks for words in paths. */
    async find() {
        const words = field("find").trim();
        let found = null;
        if (words) {
            const answer = await fetch(address("/console/graph/names", { find: words }));
            if (!answer.ok) return;
            found = new Set(/** @type {number[]} */ ((await answer.json()).found));
        }
        // Another word was typed meanwhile.
        if (words !== field("find").trim()) return;
        this.found = found;
        this.setShown();
    }

    light() {
        const focus = this.pointed >= 0 ? this.pointed : this.chosen;
        const way = this.pointed >= 0 ? [] : this.way;
        this.worker.postMessage({ kind: "light", focus, way });
    }

    /** @param {number} note -1 for none. */
    async point(note) {
        if (note === this.pointed) return;
        this.pointed = note;
        stage.classList.toggle("points", note >= 0);
        this.light();
        if (note >= 0) {
            const { targets, sources } = this.data.neighbours(note);
            this.sendNames(await this.names([note, ...targets, ...sources].slice(0, 200)));
            const known = this.known.get(note);
            if (known && this.pointed === note) state.textContent = `${known.name}: ${this.data.degree[note]} links`;
        } else state.textContent = "";
    }

    /** @param {number} note -1 for none. */
    async choose(note) {
        this.chosen = note;
        this.way = [];
        this.light();
        if (note < 0) return;
        const { targets, sources } = this.data.neighbours(note);
        await this.names([note, ...targets.slice(0, 200), ...sources.slice(0, 200)]);
        if (this.chosen !== note) return;
        this.sendNames([note, ...targets, ...sources]);
        this.remember();
        showPanel(this, note, targets, sources);
    }

    /** Lights the way to another note. @param {string} to @param {(notes: number[] | null, known: boolean) => void} show */
    async findWay(to, show) {
        const from = this.known.get(this.chosen)?.path ?? "";
        const answer = await fetch(address("/console/graph/way", { note: from, to }));
        if (!answer.ok) return;
        const told = await answer.json();
        this.way = told.way ?? [];
        await this.names(this.way);
        this.sendNames(this.way);
        this.light();
        show(told.way, told.known);
    }

    saveSvg() {
        const names = new Map([...this.known].map(([note, { name }]) => [note, name]));
        const colours = { ground: colour("drawn-ground"), link: colour("drawn-link"), ink: colour("drawn-ink"), groups: GROUPS.map((group) => colour(`group-${group}`)) };
        download(new Blob([svgOf(this.data, this.shown, this.groups, colours, names)], { type: "image/svg+xml" }), "graph.svg");
    }
}

/** @param {Blob} blob @param {string} name */
function download(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

async function start() {
    picture.hidden = false;
    state.textContent = "The notes are being read.";
    const bytes = await load();
    if (!bytes) return;
    state.textContent = "";
    const graph = new GraphView(bytes);
    const days = graph.data.made.filter((made) => made > 0).map((made) => Math.floor(made / DAY));
    const first = days.reduce((least, day) => Math.min(least, day), Infinity), last = days.reduce((most, day) => Math.max(most, day), 0);
    until.min = String(Number.isFinite(first) ? first : 0);
    until.max = String(last);
    until.value = until.max;
    until.disabled = until.min === until.max;
    await graph.find();
    graph.camera.fit();
    const wanted = new URLSearchParams(location.search).get("note");
    if (wanted) {
        const answer = await fetch(address("/console/graph/way", { note: wanted, to: wanted }));
        const { way } = answer.ok ? await answer.json() : { way: null };
        if (way) await graph.choose(way[0]);
    }
    let timer = 0;
    const vault = field("vault");
    const look = () => {
        graph.remember();
        graph.find();
    };
    filter.addEventListener("input", () => {
        // Another vault is another page.
        if (field("vault") !== vault) return;
        clearTimeout(timer);
        timer = setTimeout(look, 150);
    });
    filter.addEventListener("submit", (event) => {
        if (field("vault") !== vault) return;
        event.preventDefault();
        look();
    });
    until.addEventListener("input", () => graph.setShown());
    element("colours", HTMLSelectElement).addEventListener("change", () => graph.setGroups());
    element("closer", HTMLButtonElement).addEventListener("click", () => graph.camera.zoom(1.4));
    element("further", HTMLButtonElement).addEventListener("click", () => graph.camera.zoom(1 / 1.4));
    element("fit", HTMLButtonElement).addEventListener("click", () => graph.camera.fit());
    element("save-png", HTMLButtonElement).addEventListener("click", () => graph.worker.postMessage({ kind: "save" }));
    element("save-svg", HTMLButtonElement).addEventListener("click", () => graph.saveSvg());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => graph.setLook());
    picture.dataset.ready = "true";
}

start();
