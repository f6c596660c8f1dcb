// Draws the picture beside the page, so that the page never waits for it.
import { GraphData } from "./graph-data.js";
import { Raster, radiusOf } from "./raster.js";

/** After this many milliseconds without movement everything is drawn sharply. */
const REST = 120;
/** While moving, the resolution is halved if a frame takes longer than this, and doubled again below the other. */
const SLOW = 20, QUICK = 7;
const MOST_LABELS = 40;
/** More than are drawn: some are in the way of others. */
const MOST_NAMES = 120;

/** @type {OffscreenCanvas} */
let canvas;
/** @type {GraphData} */
let data;
/** @type {import("./raster.js").Scene} */
let scene;
/** @type {import("./raster.js").Look & {ink: number}} */
let look;
let view = { x: 0, y: 0, scale: 1 };
let ratio = 1;
/** @type {Map<number, string>} */
const names = new Map();
/** @type {Set<number>} */
const asked = new Set();
/** @type {number[]} Notes whose names are drawn. */
let labels = [];
/** @type {Raster | null} */
let sharp = null;
/** @type {Raster | null} Of half the resolution. */
let coarse = null;
/** @type {OffscreenCanvas | null} */
let small = null;
let isCoarse = false;
let isMoving = false;
let isDue = false;
let moved = 0;

/** @param {number} rgb */
const css = (rgb) => `#${rgb.toString(16).padStart(6, "0")}`;

/** The view in the pixels of a picture. @param {Raster} raster */
const viewOf = (raster) => ({ ...view, scale: view.scale * ratio * raster.width / canvas.width });

/** @param {Raster} raster */
function imageOf(raster) {
    return new ImageData(new Uint8ClampedArray(raster.pixels.buffer), raster.width, raster.height);
}

function frame() {
    isDue = false;
    if (!sharp || !canvas) return;
    const began = performance.now();
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    if (isMoving && isCoarse) {
        if (!coarse || !small) {
            coarse = new Raster(Math.max(1, sharp.width >> 1), Math.max(1, sharp.height >> 1));
            small = new OffscreenCanvas(coarse.width, coarse.height);
            // Its links are those of the sharp picture, at half the size.
            if (sharp.layerView) {
                coarse.layerView = { ...sharp.layerView, scale: sharp.layerView.scale * coarse.width / sharp.width };
                for (let row = 0; row < coarse.height; row += 1) {
                    for (let column = 0; column < coarse.width; column += 1) {
                        coarse.layer[row * coarse.width + column] = sharp.layer[2 * row * sharp.width + 2 * column];
                    }
                }
            }
        }
        coarse.compose(scene, viewOf(coarse), look);
        /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d", { alpha: false })).putImageData(imageOf(coarse), 0, 0);
        context.drawImage(small, 0, 0, canvas.width, canvas.height);
    } else {
        if (!isMoving) {
            sharp.drawLinks(scene, viewOf(sharp), look);
            coarse = null;
            chooseLabels(context);
        }
        sharp.compose(scene, viewOf(sharp), look);
        context.putImageData(imageOf(sharp), 0, 0);
    }
    drawLabels(context, ratio);
    const took = performance.now() - began;
    if (isMoving && took > SLOW) isCoarse = true;
    if (isMoving && took < QUICK) isCoarse = false;
    if (isMoving) setTimeout(rest, REST);
}

function rest() {
    if (isMoving && performance.now() - moved >= REST - 1) {
        isMoving = false;
        draw();
    }
}

function draw() {
    if (!isDue) {
        isDue = true;
        requestAnimationFrame(frame);
    }
}

/** @param {OffscreenCanvasRenderingContext2D} context @param {number} size */
function setFont(context, size) {
    context.font = `${Math.round(12.5 * size)}px system-ui, sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "top";
}

/** Where a note is in the picture. @param {number} note @param {number} width @param {number} height @param {number} size */
function placeOf(note, width, height, size) {
    const scale = view.scale * size;
    return [(data.x[note] - view.x) * scale + width / 2, (data.y[note] - view.y) * scale + height / 2,
        radiusOf(data.degree[note], data.count, scale)];
}

/** The largest notes in view whose names do not overlap. @param {OffscreenCanvasRenderingContext2D} context */
function chooseLabels(context) {
    setFont(context, ratio);
    const { width, height } = canvas;
    /** @type {[number, number, number, number][]} */
    const taken = [];
    /** @type {number[]} */
    const unknown = [];
    labels = [];
    let seen = 0;
    for (const note of [...data.byDegree.filter((note) => scene.lit?.[note]), ...(scene.lit ? [] : data.byDegree)]) {
        if (!scene.shown[note]) continue;
        const [x, y, radius] = placeOf(note, width, height, ratio);
        if (x < 0 || y < 0 || x > width || y > height) continue;
        seen += 1;
        if (seen > MOST_NAMES || labels.length >= MOST_LABELS) break;
        const name = names.get(note);
        if (name === undefined) {
            unknown.push(note);
            continue;
        }
        const half = context.measureText(name).width / 2 + 3 * ratio;
        /** @type {[number, number, number, number]} */
        const box = [x - half, y + radius, x + half, y + radius + 16 * ratio];
        if (taken.some(([left, top, right, bottom]) => box[0] < right && box[2] > left && box[1] < bottom && box[3] > top)) continue;
        taken.push(box);
        labels.push(note);
    }
    const wanted = unknown.filter((note) => !asked.has(note));
    if (wanted.length > 0) {
        wanted.forEach((note) => asked.add(note));
        postMessage({ kind: "names", notes: wanted });
    }
}

/** @param {OffscreenCanvasRenderingContext2D} context @param {number} size */
function drawLabels(context, size) {
    const { width, height } = context.canvas;
    setFont(context, size);
    context.fillStyle = css(look.ink);
    context.strokeStyle = css(look.ground);
    context.lineWidth = 3 * size;
    context.lineJoin = "round";
    for (const note of labels) {
        const [x, y, radius] = placeOf(note, width, height, size);
        const name = names.get(note) ?? "";
        // A rim is costly, and not missed while everything moves.
        if (!isMoving) context.strokeText(name, x, y + radius + 2 * size);
        context.fillText(name, x, y + radius + 2 * size);
    }
}

/** The picture as a file, twice as sharp as the screen. */
async function save() {
    const size = Math.min(2 * ratio, 4096 / Math.max(canvas.width, canvas.height) * ratio);
    const raster = new Raster(Math.round(canvas.width * size / ratio), Math.round(canvas.height * size / ratio));
    const file = new OffscreenCanvas(raster.width, raster.height);
    const context = /** @type {OffscreenCanvasRenderingContext2D} */ (file.getContext("2d", { alpha: false }));
    raster.drawLinks(scene, viewOf(raster), look);
    raster.compose(scene, viewOf(raster), look);
    context.putImageData(imageOf(raster), 0, 0);
    drawLabels(context, size);
    postMessage({ kind: "saved", blob: await file.convertToBlob({ type: "image/png" }) });
}

/** What is lit: a note with its neighbours, or a way. @param {number} focus @param {number[]} way */
function light(focus, way) {
    const lit = new Uint8Array(data.count);
    /** @type {number[]} */
    const marked = [];
    if (way.length > 0) {
        way.forEach((note, at) => {
            lit[note] = 1;
            if (at > 0) marked.push(way[at - 1], note);
        });
    } else if (focus >= 0) {
        const { targets, sources } = data.neighbours(focus);
        lit[focus] = 1;
        for (const note of [...targets, ...sources]) {
            lit[note] = 1;
            marked.push(focus, note);
        }
    }
    scene.lit = marked.length > 0 || focus >= 0 ? lit : null;
    scene.marked = Uint32Array.from(marked);
}

/** @type {Record<string, (message: any) => void>} */
const takes = {
    start(message) {
        canvas = message.canvas;
        data = new GraphData(message.bytes);
        scene = {
            x: data.x, y: data.y, links: data.links, degree: data.degree, byDegree: data.byDegree,
            group: new Uint8Array(data.count), shown: new Uint8Array(data.count).fill(1), lit: null, marked: new Uint32Array(),
        };
    },
    size(message) {
        ratio = message.ratio;
        canvas.width = Math.max(1, Math.round(message.width * ratio));
        canvas.height = Math.max(1, Math.round(message.height * ratio));
        sharp = new Raster(canvas.width, canvas.height);
        coarse = null;
    },
    look(message) {
        look = message.look;
    },
    view(message) {
        view = message.view;
        isMoving = true;
        moved = performance.now();
    },
    shown(message) {
        scene.shown = message.shown;
        isMoving = false;
    },
    groups(message) {
        scene.group = message.groups;
    },
    light(message) {
        light(message.focus, message.way);
        isMoving = false;
    },
    names(message) {
        for (const [note, name] of message.names) names.set(note, name);
        if (isMoving) return;
        isMoving = false;
    },
    save,
};

addEventListener("message", ({ data: message }) => {
    takes[message.kind]?.(message);
    if (look && message.kind !== "save") draw();
});
