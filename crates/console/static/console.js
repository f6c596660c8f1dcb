// What makes every page lively: the code in the link, the number of requests that wait, keys. Pages work without it.
// Text of others is only ever set with `textContent`.
import { alertOwner } from "./alerts.js";
import { listen, onNews, say } from "./live.js";

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

const icon = document.querySelector('link[rel="icon"]');

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
    const name = count === 0 ? "icon.svg" : count > 9 ? "icon-many.svg" : `icon-${count}.svg`;
    if (icon instanceof HTMLLinkElement) icon.href = icon.href.replace(/[^/]*$/, name);
    if (count > before) {
        const text = count === 1 ? "One request waits for your approval." : `${count} requests wait for your approval.`;
        say(text);
        alertOwner(text);
    }
}

let went = false;

/** Keys move the focus; they change nothing. @param {KeyboardEvent} event */
function onKey(event) {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target instanceof HTMLInputElement
        || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return;
    const place = went && document.querySelector(`nav a[data-go="${CSS.escape(event.key)}"]`);
    if (place instanceof HTMLAnchorElement) {
        location.assign(place.href);
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
    if (event.key === "?") {
        const places = [...document.querySelectorAll("nav a[data-go]")];
        const named = places.map((link) => `g ${link.getAttribute("data-go")} ${link.firstChild?.textContent?.trim()}`);
        say(`Keys: ${named.join(", ")}, j k next and previous, / filter, a to Approve, r to Reject.`);
    }
}

signInWithCode();
onNews("pending", showPending);
listen();
document.addEventListener("keydown", onKey);
