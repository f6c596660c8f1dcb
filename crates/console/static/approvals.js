// The list of requests stays fresh: it is drawn by the server, and not while a person is in it.
import { showSwitches } from "./alerts.js";
import { isInUse, onNews } from "./live.js";

const list = document.querySelector("#approvals");
const fresh = document.querySelector("#fresh");
const drawn = Number(document.body.dataset.pending);

/** @param {{count: number}} pending */
function refresh({ count }) {
    if (count === drawn || !(fresh instanceof HTMLButtonElement)) return;
    if (!isInUse(list) && !isInUse(document.querySelector("#alerts"))) {
        location.reload();
        return;
    }
    fresh.hidden = false;
    fresh.textContent = count > drawn ? `${count - drawn} new: show` : "The list has changed: show";
}

fresh?.addEventListener("click", () => location.reload());
onNews("pending", refresh);
showSwitches();
