// What makes the pages lively: the code in the link, news without reloading, keys. Pages work without it.
// Text of others is only ever set with `textContent`.

/** The code is in the fragment, which no server and no log sees. */
function signInWithCode() {
    const form = document.querySelector("#code-form");
    const code = location.hash.slice(1);
    if (!(form instanceof HTMLFormElement) || !code) return;
    history.replaceState(null, "", location.pathname);
    const field = form.elements.namedItem("code");
    if (field instanceof HTMLInputElement) {
        field.value = code;
        form.submit();
    }
}

const news = document.querySelector("#news");

/** @param {string} text */
function say(text) {
    if (news) news.textContent = text;
}

/** @param {{count: number}} pending */
function showPending({ count }) {
    const badge = document.querySelector("#pending");
    if (!(badge instanceof HTMLElement)) return;
    const before = Number(document.body.dataset.pending);
    document.body.dataset.pending = String(count);
    badge.textContent = String(count);
    badge.hidden = count === 0;
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (count > 0) document.title = `(${count}) ${document.title}`;
    if (count > before) {
        say(count === 1 ? "One request waits for your approval." : `${count} requests wait for your approval.`);
    }
    // The list is drawn by the server; nobody is in the middle of reading it.
    if (count !== before && location.pathname === "/console/" && !document.querySelector("main :focus")) location.reload();
}

const MOST_ROWS = 500;

/** @typedef {{time: string, exact: string, client: string, tool: string, outcome: string, tone: string, note: string, vault: string, ms: string, bytes: string, address: string | null}} Call */

/** @param {Call} call @param {boolean} vaults */
function rowOf(call, vaults) {
    const row = document.createElement("tr");
    row.className = "row";
    /** @param {string} text @param {string} [kind] */
    const cell = (text, kind) => {
        const cell = document.createElement("td");
        if (kind) cell.className = kind;
        cell.textContent = text;
        row.append(cell);
        return cell;
    };
    const time = document.createElement("time");
    time.dateTime = call.exact;
    time.title = call.exact;
    time.textContent = call.time;
    cell("").append(time);
    cell(call.client);
    const tool = document.createElement("code");
    tool.textContent = call.tool;
    cell("").append(tool);
    const outcome = cell(call.address ? "" : call.outcome, call.tone);
    if (call.address) {
        const link = document.createElement("a");
        link.href = call.address;
        link.textContent = call.outcome;
        outcome.append(link);
    }
    cell(call.note, "path");
    if (vaults) cell(call.vault);
    cell(call.ms, "right");
    cell(call.bytes, "right");
    return row;
}

/** @type {Call[]} */
let held = [];

function showCalls() {
    const table = document.querySelector("#calls");
    const body = table?.querySelector("tbody");
    if (!(table instanceof HTMLElement) || !body || held.length === 0) return;
    // Rows must not move under a pointer or a focus.
    if (table.matches(":hover") || table.contains(document.activeElement)) {
        say(`${held.length} new calls.`);
        return;
    }
    const vaults = table.dataset.vaults === "true";
    body.prepend(...held.reverse().map((call) => rowOf(call, vaults)));
    held = [];
    while (body.rows.length > MOST_ROWS) body.lastElementChild?.remove();
    document.querySelector("#no-calls")?.remove();
    say("");
}

/** What tells calls apart. @param {(string | null | undefined)[]} parts */
const keyOf = (...parts) => parts.join("\n");

/** The first calls of a stream may be on the page already. */
function shownKeys() {
    const rows = [...document.querySelectorAll("#calls tbody tr")];
    return new Set(rows.map((row) => {
        const time = row.querySelector("time");
        return keyOf(time?.dateTime, row.querySelector("code")?.textContent, row.querySelector(".path")?.textContent);
    }));
}

/** @param {{calls: Call[]}} news */
function takeCalls({ calls }) {
    // With a filter in the address the page shows what the server found.
    if (location.pathname !== "/console/activity" || location.search) return;
    const shown = shownKeys();
    held.push(...calls.filter((call) => !shown.has(keyOf(call.exact, call.tool, call.note))));
    held.splice(0, Math.max(0, held.length - MOST_ROWS));
    requestAnimationFrame(showCalls);
}

/** @param {string} text */
function take(text) {
    const message = JSON.parse(text);
    if (message.kind === "pending") showPending(message);
    if (message.kind === "calls") takeCalls(message);
}

/** One connection for all tabs: the one that has the lock listens and hands on what comes. */
function listen() {
    if (!("live" in document.body.dataset)) return;
    const channel = new BroadcastChannel("lapidary-console");
    channel.onmessage = (event) => take(event.data);
    navigator.locks.request("lapidary-console", () => new Promise(() => {
        const source = new EventSource("/console/events");
        source.onmessage = (event) => {
            take(event.data);
            channel.postMessage(event.data);
        };
        // Signed out, or the server has ended.
        source.onerror = () => { if (source.readyState === EventSource.CLOSED) say("The server does not answer. Reload the page to try again."); };
    }));
    document.querySelector("#calls")?.addEventListener("pointerleave", showCalls);
}

const PLACES = { a: "/console/", c: "/console/activity", u: "/console/history" };
let went = false;

/** Keys move the focus; they change nothing. @param {KeyboardEvent} event */
function onKey(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLInputElement
        || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return;
    if (went && event.key in PLACES) {
        location.assign(PLACES[/** @type {keyof typeof PLACES} */ (event.key)]);
        return;
    }
    went = event.key === "g";
    const rows = [...document.querySelectorAll(".row a, .row summary")];
    const at = rows.indexOf(/** @type {Element} */ (document.activeElement));
    /** @param {Element | null | undefined} element */
    const focus = (element) => {
        if (element instanceof HTMLElement) {
            element.focus();
            event.preventDefault();
        }
    };
    if (event.key === "j") focus(rows[Math.min(at + 1, rows.length - 1)]);
    if (event.key === "k") focus(rows[Math.max(at - 1, 0)]);
    if (event.key === "a" || event.key === "r" || event.key === "/") focus(document.querySelector(`[data-key="${event.key}"]`));
    if (event.key === "?") say("Keys: g a approvals, g c activity, g u history, j k next and previous, / filter, a to Approve, r to Reject.");
}

signInWithCode();
listen();
document.addEventListener("keydown", onKey);
