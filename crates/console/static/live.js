// News of the server: one connection for all tabs of a browser. The tab that has the lock listens and hands on what comes.

const news = document.querySelector("#news");

/** Announced once, whatever is in it. @param {string} text */
export function say(text) {
    if (news && news.textContent !== text) news.textContent = text;
}

/** No longer true; what else was said stays. @param {string} text */
export function unsay(text) {
    if (news && news.textContent === text) news.textContent = "";
}

/** @type {Map<string, ((message: any) => void)[]>} */
const takers = new Map();
let listening = false;

/** Whether this tab is the one that listens, and so the one that makes a sound. */
export const isListening = () => listening;

/** What a page does with news of a kind. @param {string} kind @param {(message: any) => void} take */
export function onNews(kind, take) {
    takers.set(kind, [...(takers.get(kind) ?? []), take]);
}

/** @param {string} text */
function take(text) {
    const message = JSON.parse(text);
    for (const taker of takers.get(message.kind) ?? []) taker(message);
}

/** Whether a pointer or the focus is in an element, which must not move then. @param {Element | null} element */
export const isInUse = (element) => Boolean(element && (element.matches(":hover") || element.contains(document.activeElement)));

export function listen() {
    if (!("live" in document.body.dataset)) return;
    const channel = new BroadcastChannel("lapidary-console");
    channel.onmessage = (event) => take(event.data);
    navigator.locks.request("lapidary-console", () => new Promise(() => {
        listening = true;
        // The browser connects again by itself, and says what it had last.
        const source = new EventSource("/console/events");
        source.onmessage = (event) => {
            take(event.data);
            channel.postMessage(event.data);
        };
        /** For all tabs. @param {string} kind */
        const tell = (kind) => {
            const text = JSON.stringify({ kind });
            take(text);
            channel.postMessage(text);
        };
        source.onopen = () => tell("connected");
        // Closed for good: signed out, or what answers is no longer this server. Else the browser tries again.
        source.onerror = () => tell(source.readyState === EventSource.CLOSED ? "closed" : "lost");
    }));
}

const LOST = "The server does not answer. Trying again; what is shown may be old.";
onNews("lost", () => say(LOST));
onNews("connected", () => unsay(LOST));
onNews("closed", () => say("The server no longer knows this page. Reload it to try again."));
// What was missed is more than the server tells.
onNews("reload", () => location.reload());
