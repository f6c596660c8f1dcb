// Draws a link graph into pixels, with nothing but numbers: it needs no graphics card, and gives the same bytes everywhere.
//
// At rest, every link is added to a buffer of counters, which is then mapped to tones: where many links cross, single ones
// are still seen. While the view moves, that layer is moved as a bitmap, and only the notes are drawn anew.

/** @typedef {{x: number, y: number, scale: number}} View The place in the middle, and pixels for a unit. */
/** @typedef {{ground: number, link: number, accent: number, groups: number[]}} Look Colours as 0xRRGGBB. */
/**
 * @typedef {object} Scene
 * @property {Float32Array} x
 * @property {Float32Array} y
 * @property {Uint32Array} links Pairs.
 * @property {Uint32Array} degree
 * @property {Uint32Array} byDegree
 * @property {Uint8Array} group The colour of each note.
 * @property {Uint8Array} shown 1 for notes that are drawn.
 * @property {Uint8Array | null} lit 1 for notes that stand out; the others are dimmed.
 * @property {Uint32Array} marked Pairs of notes whose links stand out.
 */

const TONES = 1024;
/** The counter of one link that covers a pixel. */
const WHOLE = 256;
const LARGEST = 28;

/** As the canvas has it: red in the lowest byte. @param {number} rgb */
const pixel = (rgb) => (0xff000000 | (rgb & 0xff) << 16 | (rgb & 0xff00) | rgb >> 16 & 0xff) >>> 0;

/** @param {number} under @param {number} over @param {number} share Of 256. */
function blend(under, over, share) {
    const redBlue = under & 0xff00ff, green = under & 0xff00;
    return (0xff000000
        | (redBlue + (((over & 0xff00ff) - redBlue) * share >> 8) & 0xff00ff)
        | (green + (((over & 0xff00) - green) * share >> 8) & 0xff00)) >>> 0;
}

/** The radius of a note in pixels. @param {number} degree @param {number} notes @param {number} scale */
export function radiusOf(degree, notes, scale) {
    const size = Math.min(2.6, Math.max(0.9, 40 / Math.sqrt(notes + 1)));
    const zoom = Math.min(2.5, Math.max(0.7, Math.sqrt(scale)));
    return Math.min(LARGEST, size * (1 + 0.55 * Math.sqrt(degree)) * zoom);
}

export class Raster {
    /** @param {number} width @param {number} height */
    constructor(width, height) {
        this.width = width;
        this.height = height;
        this.pixels = new Uint32Array(width * height);
        this.layer = new Uint32Array(width * height);
        this.counts = new Uint32Array(width * height);
        /** @type {View | null} */
        this.layerView = null;
        /** @type {Map<number, {side: number, cover: Uint8Array}>} */
        this.masks = new Map();
    }

    /** Draws all links that are seen. @param {Scene} scene @param {View} view @param {Look} look */
    drawLinks(scene, view, look) {
        const { x, y, links, shown, lit } = scene;
        const { width, height, counts } = this;
        counts.fill(0);
        const left = width / 2 - view.x * view.scale, top = height / 2 - view.y * view.scale;
        let drawn = 0;
        for (let at = 0; at < links.length; at += 2) {
            const from = links[at], to = links[at + 1];
            if (!shown[from] || !shown[to]) continue;
            drawn += 1;
            // Beside notes that stand out, the links of others are faint.
            const weight = lit && !(lit[from] && lit[to]) ? 64 : WHOLE;
            this.addLine(x[from] * view.scale + left, y[from] * view.scale + top, x[to] * view.scale + left, y[to] * view.scale + top, weight);
        }
        // In a large graph a single link is faint, or nothing else would be seen.
        const single = Math.min(0.55, Math.max(0.04, 9 / Math.sqrt(drawn + 1)));
        const tones = new Uint32Array(TONES);
        const ground = pixel(look.ground), ink = pixel(look.link);
        for (let tone = 0; tone < TONES; tone += 1) {
            const links = tone * 64 / WHOLE;
            tones[tone] = blend(ground, ink, Math.round(225 * (1 - Math.pow(1 - single, links))));
        }
        const { layer } = this;
        for (let at = 0; at < layer.length; at += 1) {
            const tone = counts[at] >> 6;
            layer[at] = tones[tone < TONES ? tone : TONES - 1];
        }
        this.layerView = { ...view };
    }

    /** Adds a line to the counters. @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @param {number} weight */
    addLine(x0, y0, x1, y1, weight) {
        const { width, height, counts } = this;
        const wide = Math.abs(x1 - x0) >= Math.abs(y1 - y0);
        // Along the longer side, one pixel after the other, shared with its neighbour across.
        const [a0, b0, a1, b1] = wide ? [x0, y0, x1, y1] : [y0, x0, y1, x1];
        const [start, startAcross, end, endAcross] = a0 <= a1 ? [a0, b0, a1, b1] : [a1, b1, a0, b0];
        const slope = end > start ? (endAcross - startAcross) / (end - start) : 0;
        const [most, mostAcross] = wide ? [width - 1, height - 2] : [height - 1, width - 2];
        let first = Math.max(0, Math.ceil(start)), last = Math.min(most, Math.floor(end));
        // Only where it is inside across, too.
        if (slope !== 0) {
            const low = (0 - startAcross) / slope + start, high = (mostAcross - startAcross) / slope + start;
            first = Math.max(first, Math.ceil(Math.min(low, high)));
            last = Math.min(last, Math.floor(Math.max(low, high)));
        } else if (startAcross < 0 || startAcross > mostAcross) return;
        const [along, across] = wide ? [1, width] : [width, 1];
        let place = startAcross + (first - start) * slope;
        for (let at = first; at <= last; at += 1) {
            const whole = place | 0;
            const part = (place - whole) * weight | 0;
            const index = at * along + whole * across;
            counts[index] += weight - part;
            counts[index + across] += part;
            place += slope;
        }
    }

    /** Lays the notes over the links, which are moved to where they are in this view. @param {Scene} scene @param {View} view @param {Look} look */
    compose(scene, view, look) {
        const { layerView } = this;
        if (layerView && layerView.x === view.x && layerView.y === view.y && layerView.scale === view.scale) this.pixels.set(this.layer);
        else this.moveLinks(view, look);
        this.drawMarked(scene, view, look);
        this.drawNotes(scene, view, look);
        return this.pixels;
    }

    /** @param {View} view @param {Look} look */
    moveLinks(view, look) {
        const { width, height, pixels, layer, layerView } = this;
        const ground = pixel(look.ground);
        if (!layerView) {
            pixels.fill(ground);
            return;
        }
        const step = layerView.scale / view.scale;
        const left = (view.x - layerView.x) * layerView.scale + width / 2 - width / 2 * step + step / 2;
        const top = (view.y - layerView.y) * layerView.scale + height / 2 - height / 2 * step + step / 2;
        const first = Math.max(0, Math.min(width, Math.ceil(-left / step)));
        const end = Math.max(first, Math.min(width, Math.ceil((width - left) / step)));
        for (let row = 0; row < height; row += 1) {
            const at = row * width;
            const from = Math.floor(top + row * step);
            if (from < 0 || from >= height) {
                pixels.fill(ground, at, at + width);
                continue;
            }
            pixels.fill(ground, at, at + first);
            pixels.fill(ground, at + end, at + width);
            const source = from * width;
            let place = left + first * step;
            for (let column = first; column < end; column += 1) {
                pixels[at + column] = layer[source + (place | 0)];
                place += step;
            }
        }
    }

    /** @param {Scene} scene @param {View} view @param {Look} look */
    drawMarked(scene, view, look) {
        const { x, y, marked, shown } = scene;
        if (marked.length === 0) return;
        const { width, height, counts, pixels } = this;
        const left = width / 2 - view.x * view.scale, top = height / 2 - view.y * view.scale;
        counts.fill(0);
        for (let at = 0; at < marked.length; at += 2) {
            const from = marked[at], to = marked[at + 1];
            if (!shown[from] || !shown[to]) continue;
            this.addLine(x[from] * view.scale + left, y[from] * view.scale + top, x[to] * view.scale + left, y[to] * view.scale + top, WHOLE);
        }
        const accent = pixel(look.accent);
        for (let at = 0; at < counts.length; at += 1) {
            if (counts[at] > 0) pixels[at] = blend(pixels[at], accent, Math.min(210, counts[at]));
        }
    }

    /** @param {Scene} scene @param {View} view @param {Look} look */
    drawNotes(scene, view, look) {
        const { x, y, degree, byDegree, group, shown, lit } = scene;
        const { width, height } = this;
        const left = width / 2 - view.x * view.scale, top = height / 2 - view.y * view.scale;
        const ground = pixel(look.ground);
        const colours = look.groups.map(pixel);
        const dimmed = colours.map((colour) => blend(ground, colour, 56));
        // The largest last, on top; and those that stand out above all.
        for (const above of lit ? [0, 1] : [0]) {
            for (let at = byDegree.length - 1; at >= 0; at -= 1) {
                const note = byDegree[at];
                if (!shown[note] || (lit && lit[note] !== above)) continue;
                const column = Math.round(x[note] * view.scale + left), row = Math.round(y[note] * view.scale + top);
                if (column < -LARGEST || row < -LARGEST || column > width + LARGEST || row > height + LARGEST) continue;
                const radius = radiusOf(degree[note], byDegree.length, view.scale);
                // A rim in the colour of the ground parts notes that touch.
                if (radius >= 3) this.stamp(column, row, radius + 1, ground);
                this.stamp(column, row, radius, lit && !above ? dimmed[group[note]] : colours[group[note]]);
            }
        }
    }

    /** A disc. @param {number} column @param {number} row @param {number} radius @param {number} colour */
    stamp(column, row, radius, colour) {
        const { width, height, pixels } = this;
        const { side, cover } = this.mask(radius);
        const half = side >> 1;
        const firstRow = Math.max(0, half - row), lastRow = Math.min(side, height + half - row);
        const first = Math.max(0, half - column), last = Math.min(side, width + half - column);
        for (let down = firstRow; down < lastRow; down += 1) {
            const to = (row - half + down) * width + column - half;
            const from = down * side;
            for (let right = first; right < last; right += 1) {
                const share = cover[from + right];
                if (share === 255) pixels[to + right] = colour;
                else if (share > 0) pixels[to + right] = blend(pixels[to + right], colour, share);
            }
        }
    }

    /** How much a disc covers of each pixel. @param {number} radius */
    mask(radius) {
        const size = Math.max(2, Math.round(radius * 4));
        let mask = this.masks.get(size);
        if (!mask) {
            const exact = size / 4, half = Math.ceil(exact + 0.5), side = 2 * half + 1;
            const cover = new Uint8Array(side * side);
            for (let row = 0; row < side; row += 1) {
                for (let column = 0; column < side; column += 1) {
                    const inside = exact + 0.5 - Math.sqrt((column - half) ** 2 + (row - half) ** 2);
                    cover[row * side + column] = Math.round(255 * Math.min(1, Math.max(0, inside)));
                }
            }
            mask = { side, cover };
            this.masks.set(size, mask);
        }
        return mask;
    }
}
