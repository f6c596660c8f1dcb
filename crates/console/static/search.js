// The search as it is typed. The list is built from text alone; without this, the form is sent.

/** @typedef {{path: string, section: string | null, passage: {text: string, found: boolean}[], address: string}} Hit */
/** @typedef {{problem?: string, hits?: Hit[], total?: number, notice?: string | null}} Found */

/** A pause in typing, in milliseconds. */
const PAUSE = 250;

const form = document.querySelector("#search");
const words = document.querySelector("#q");
const list = document.querySelector("#hits");
const found = document.querySelector("#found");

/** @param {Hit} hit */
function shown(hit) {
    const item = document.createElement("li");
    item.className = "row";
    const link = document.createElement("a");
    link.href = hit.address;
    link.title = "Open in Obsidian";
    const path = document.createElement("span");
    path.className = "path";
    path.textContent = hit.path;
    link.append(path);
    item.append(link);
    if (hit.section) {
        const section = document.createElement("span");
        section.className = "soft";
        section.textContent = ` § ${hit.section}`;
        item.append(section);
    }
    const passage = document.createElement("p");
    for (const piece of hit.passage) {
        const part = document.createElement(piece.found ? "mark" : "span");
        part.textContent = piece.text;
        passage.append(part);
    }
    item.append(passage);
    return item;
}

/** @param {Found} answer */
function show(answer) {
    if (!list || !found) return;
    const hits = answer.hits ?? [];
    list.replaceChildren(...hits.map(shown));
    const counts = `${hits.length} of ${answer.total ?? 0} notes${answer.notice ? `. ${answer.notice}` : ""}`;
    found.textContent = answer.problem ?? counts;
    document.querySelector("#no-hits")?.remove();
}

let asked = 0;

/** @param {HTMLFormElement} form */
async function search(form) {
    const query = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") query.set(name, value);
    asked += 1;
    const own = asked;
    const response = await fetch(`/console/search.json?${query}`);
    // An answer to older words, or none.
    if (own !== asked || !response.ok) return;
    show(await response.json());
    history.replaceState(null, "", `/console/search?${query}`);
}

if (form instanceof HTMLFormElement && words instanceof HTMLInputElement) {
    let wait = 0;
    form.addEventListener("input", () => {
        clearTimeout(wait);
        wait = setTimeout(() => {
            // The form itself still works if this does not.
            search(form).catch(() => undefined);
        }, PAUSE);
    });
}
