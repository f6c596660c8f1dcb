// Calls appear in the list while it is open.
// Text of others is only ever set with `textContent`.
import { isInUse, onNews, say, unsay } from "./live.js";

const MOST_ROWS = 500;
const NEW_CALLS = "There are new calls.";

/** @typedef {{time: string, exact: string, client: string, tool: string, outcome: string, tone: string, note: string, vault: string, ms: string, bytes: string, address: string | null, open: string}} Call */

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
    const open = document.createElement("a");
    open.href = call.open;
    open.append(tool);
    cell("").append(open);
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

const fresh = document.querySelector("#fresh");

/** @param {boolean} [now] */
function showCalls(now) {
    const table = document.querySelector("#calls");
    const body = table?.querySelector("tbody");
    if (!(table instanceof HTMLElement) || !body || !(fresh instanceof HTMLButtonElement) || held.length === 0) return;
    // Rows must not move under a pointer or a focus.
    if (now !== true && isInUse(table)) {
        fresh.hidden = false;
        fresh.textContent = `${held.length} new: show`;
        say(NEW_CALLS);
        return;
    }
    const vaults = table.dataset.vaults === "true";
    body.prepend(...held.reverse().map((call) => rowOf(call, vaults)));
    held = [];
    while (body.rows.length > MOST_ROWS) body.lastElementChild?.remove();
    document.querySelector("#no-calls")?.remove();
    fresh.hidden = true;
    unsay(NEW_CALLS);
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
    requestAnimationFrame(() => showCalls());
}

onNews("calls", takeCalls);
document.querySelector("#calls")?.addEventListener("pointerleave", () => showCalls());
fresh?.addEventListener("click", () => showCalls(true));
