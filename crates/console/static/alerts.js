// A sound and a notification for a new request, once the owner has switched them on in this browser.
import { isListening } from "./live.js";

const SOUND = "lapidary-alert-sound";
const NOTIFICATION = "lapidary-alert-notification";

/** @param {string} key */
const isOn = (key) => localStorage.getItem(key) === "on";

/** Two short tones, made here: no file, no request. */
function playSound() {
    const audio = new AudioContext();
    [660, 880].forEach((pitch, at) => {
        const tone = audio.createOscillator();
        const volume = audio.createGain();
        const begin = audio.currentTime + at * 0.15;
        tone.frequency.value = pitch;
        volume.gain.setValueAtTime(0.15, begin);
        volume.gain.exponentialRampToValueAtTime(0.001, begin + 0.14);
        tone.connect(volume).connect(audio.destination);
        tone.start(begin);
        tone.stop(begin + 0.15);
    });
    setTimeout(() => audio.close(), 1000);
}

/** One tab tells, however many are open. @param {string} text */
export function alertOwner(text) {
    if (!isListening()) return;
    if (isOn(SOUND)) playSound();
    if (isOn(NOTIFICATION) && "Notification" in window && Notification.permission === "granted") {
        const shown = new Notification("Lapidary", { body: text, tag: "lapidary-approvals" });
        shown.onclick = () => {
            window.focus();
            location.assign("/console/");
        };
    }
    document.body.dataset.alerted = text;
}

/** The switches on the page of approvals. */
export function showSwitches() {
    const box = document.querySelector("#alerts");
    if (!(box instanceof HTMLElement)) return;
    box.hidden = false;
    for (const [id, key] of [["alert-sound", SOUND], ["alert-notification", NOTIFICATION]]) {
        const tick = document.querySelector(`#${id}`);
        if (!(tick instanceof HTMLInputElement)) continue;
        tick.checked = isOn(key);
        tick.addEventListener("change", async () => {
            // Asked only when the owner wants it.
            if (tick.checked && key === NOTIFICATION && (await Notification.requestPermission()) !== "granted") tick.checked = false;
            localStorage.setItem(key, tick.checked ? "on" : "off");
            if (tick.checked && key === SOUND) playSound();
        });
    }
}
