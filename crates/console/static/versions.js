// Moving the slider shows the version, without a button.

const form = document.querySelector("#versions");
const slider = document.querySelector("#at");
const label = document.querySelector("#version-label");
const names = [...document.querySelectorAll(".version-list a")];

if (form instanceof HTMLFormElement && slider instanceof HTMLInputElement) {
    form.querySelector("button")?.remove();
    slider.addEventListener("input", () => {
        if (label) label.textContent = `${Number(slider.value) + 1} of ${names.length}: ${names[Number(slider.value)]?.textContent}`;
    });
    slider.addEventListener("change", () => form.requestSubmit());
}
