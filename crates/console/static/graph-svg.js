// The picture as an SVG file: every shown note and link, in the colours of the page.
import { radiusOf } from "./raster.js";

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

/** @param {number} number */
const short = (number) => number.toFixed(1);

/**
 * @param {import("./graph-data.js").GraphData} data @param {Uint8Array} shown @param {Uint8Array} groups
 * @param {{ground: string, link: string, ink: string, groups: string[]}} colours @param {Map<number, string>} names
 */
export function svgOf(data, shown, groups, colours, names) {
    const notes = [...data.byDegree].filter((note) => shown[note]);
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const note of notes) {
        left = Math.min(left, data.x[note]);
        right = Math.max(right, data.x[note]);
        top = Math.min(top, data.y[note]);
        bottom = Math.max(bottom, data.y[note]);
    }
    if (notes.length === 0) [left, top, right, bottom] = [0, 0, 1, 1];
    const edge = 40;
    const box = [left - edge, top - edge, right - left + 2 * edge, bottom - top + 2 * edge].map(short).join(" ");
    const parts = [`<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}" font-family="system-ui, sans-serif" font-size="10" text-anchor="middle">`,
        `<rect x="${short(left - edge)}" y="${short(top - edge)}" width="100%" height="100%" fill="${colours.ground}"/>`,
        `<g stroke="${colours.link}" stroke-opacity="0.35" stroke-width="0.7">`];
    for (let at = 0; at < data.links.length; at += 2) {
        const from = data.links[at], to = data.links[at + 1];
        if (!shown[from] || !shown[to]) continue;
        parts.push(`<line x1="${short(data.x[from])}" y1="${short(data.y[from])}" x2="${short(data.x[to])}" y2="${short(data.y[to])}"/>`);
    }
    parts.push("</g>");
    for (const note of notes.toReversed()) {
        const radius = radiusOf(data.degree[note], data.count, 1);
        parts.push(`<circle cx="${short(data.x[note])}" cy="${short(data.y[note])}" r="${short(radius)}" fill="${colours.groups[groups[note]]}"/>`);
    }
    parts.push(`<g fill="${colours.ink}">`);
    for (const note of notes) {
        const name = names.get(note);
        if (name === undefined) continue;
        const under = data.y[note] + radiusOf(data.degree[note], data.count, 1) + 10;
        parts.push(`<text x="${short(data.x[note])}" y="${short(under)}">${escaped(name)}</text>`);
    }
    parts.push("</g></svg>");
    return parts.join("\n");
}
