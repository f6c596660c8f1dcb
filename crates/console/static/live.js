// News of the server: one connection for all tabs of a browser. The tab that has the lock listens and hands on what comes.

const news = document.querySelector("#news");

/** @param {string} text */
export function say(text) {
    if (news) news.textContent = text;
}

/** @type {Map<string, (message: any) => void>} */
const takers = new Map();

/** What a page does with news of a kind. @param {string} kind @param {(message: any) => void} take */
export function onNews(kind, take) {
    takers.set(kind, take);
}

/** @param {string} text */
function take(text) {
    const message = JSON.parse(text);
    takers.get(message.kind)?.(message);
}

export function listen() {
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
}
