// The colours of notes: by folder, tag or last change. Six groups have a colour; all others share the first.

/** @typedef {{groups: Uint8Array, legend: {group: number, name: string, count: number}[]}} Grouping */

const COLOURS = 6;
const DAY = 86400;

/** Gives colours to the most frequent of some numbers. @param {number} notes @param {(note: number) => number} keyOf @param {(key: number) => string} nameOf @param {string} others @returns {Grouping} */
function grouped(notes, keyOf, nameOf, others) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (let note = 0; note < notes; note += 1) {
        const key = keyOf(note);
        if (key >= 0) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const first = [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0]).slice(0, COLOURS);
    const colours = new Map(first.map(([key], at) => [key, at + 1]));
    const groups = Uint8Array.from({ length: notes }, (_, note) => colours.get(keyOf(note)) ?? 0);
    const legend = first.map(([key, count], at) => ({ group: at + 1, name: nameOf(key), count }));
    const rest = groups.filter((group) => group === 0).length;
    return { groups, legend: rest > 0 ? [...legend, { group: 0, name: others, count: rest }] : legend };
}

/** By the topmost folder. @param {import("./graph-data.js").GraphData} data */
export function folderGroups(data) {
    const tops = data.names.folders.map((folder) => folder.split("/")[0]);
    const names = [...new Set(tops)];
    const keys = tops.map((top) => top === "" ? -1 : names.indexOf(top));
    return grouped(data.count, (note) => keys[data.folder[note]], (key) => names[key], tops.includes("") ? "other folders and none" : "other folders");
}

/** By the most frequent tag that a note has: tags come in that order. @param {import("./graph-data.js").GraphData} data */
export function tagGroups(data) {
    return grouped(data.count, (note) => data.tagsOf(note)[0] ?? -1, (tag) => `#${data.names.tags[tag]}`, "other tags and none");
}

/** @param {import("./graph-data.js").GraphData} data @param {number} now In seconds. @returns {Grouping} */
export function ageGroups(data, now) {
    const ages = [
        { group: 2, name: "last week", days: 7 }, { group: 4, name: "last month", days: 30 },
        { group: 6, name: "last year", days: 365 }, { group: 1, name: "older", days: Infinity },
    ];
    const groups = Uint8Array.from(data.changed, (changed) => {
        const days = (now - changed) / DAY;
        return ages.find((age) => days <= age.days)?.group ?? 0;
    });
    const legend = ages.map(({ group, name }) => ({ group, name, count: groups.filter((own) => own === group).length }));
    return { groups, legend: legend.filter(({ count }) => count > 0) };
}
