// Buttons that copy what another element shows.
import { say } from "./live.js";

for (const button of document.querySelectorAll("button[data-copy]")) {
    if (!(button instanceof HTMLButtonElement)) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
        const shown = document.getElementById(button.dataset.copy ?? "");
        try {
            await navigator.clipboard.writeText(shown?.textContent ?? "");
            say("Copied.");
        } catch {
            say("The browser does not let this page copy. Select the text instead.");
        }
    });
}
