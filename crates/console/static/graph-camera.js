// Moves the view of the picture: by mouse, wheel, fingers and keys. Says which note is under the pointer.
import { radiusOf } from "./raster.js";

/** Notes are found this far beside their discs. */
const NEAR = 8;
/** A pointer that moved less has clicked. */
const CLICK = 4;

/**
 * @typedef {object} CameraUser
 * @property {(view: {x: number, y: number, scale: number}) => void} moved
 * @property {(width: number, height: number, ratio: number) => void} sized
 * @property {(note: number) => void} pointed
 * @property {(note: number) => void} chosen
 * @property {(note: number) => boolean} isShown
 */

export class Camera {
    /** @param {HTMLCanvasElement} stage @param {import("./graph-data.js").GraphData} data @param {CameraUser} user */
    constructor(stage, data, user) {
        this.stage = stage;
        this.data = data;
        this.user = user;
        this.view = { x: 0, y: 0, scale: 1 };
        this.fitted = 1;
        /** Whether all is shown, and stays so in a window of another size. */
        this.showsAll = false;
        this.width = 1;
        this.height = 1;
        /** @type {Map<number, {x: number, y: number}>} */
        this.pointers = new Map();
        this.path = 0;
        const watch = new ResizeObserver(() => this.measure());
        watch.observe(stage);
        this.measure();
        stage.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
        stage.addEventListener("pointerdown", (event) => this.onDown(event));
        stage.addEventListener("pointermove", (event) => this.onMove(event));
        for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => this.onUp(/** @type {PointerEvent} */ (event)));
        stage.addEventListener("pointerleave", () => this.user.pointed(-1));
        stage.addEventListener("keydown", (event) => this.onKey(event));
    }

    measure() {
        const { width, height } = this.stage.getBoundingClientRect();
        if (width === 0 || height === 0) return;
        [this.width, this.height] = [width, height];
        this.user.sized(width, height, Math.min(2, devicePixelRatio));
        if (this.showsAll) this.fit();
        else this.user.moved(this.view);
    }

    /** All shown notes, but for a few far ones. */
    fit() {
        const { x, y, count } = this.data;
        const notes = Array.from({ length: count }, (_, note) => note).filter((note) => this.user.isShown(note));
        if (notes.length === 0) return;
        /** @param {Float32Array} places @returns {[number, number]} */
        const range = (places) => {
            const sorted = Float32Array.from(notes, (note) => places[note]).sort();
            const edge = Math.floor(sorted.length / 100);
            return [sorted[edge], sorted[sorted.length - 1 - edge]];
        };
        const [left, right] = range(x), [top, bottom] = range(y);
        const room = Math.min(60, this.width / 10);
        const scale = Math.min((this.width - 2 * room) / Math.max(right - left, 1), (this.height - 2 * room) / Math.max(bottom - top, 1), 3);
        this.fitted = scale;
        this.set((left + right) / 2, (top + bottom) / 2, scale);
        this.showsAll = true;
    }

    /** @param {number} x @param {number} y @param {number} scale */
    set(x, y, scale) {
        // Never so far that nothing is left, nor so near that nothing is seen.
        const kept = Math.min(Math.max(scale, this.fitted / 8), Math.max(20, this.fitted * 20));
        this.view = { x, y, scale: kept };
        this.showsAll = false;
        this.user.moved(this.view);
    }

    /** @param {number} factor @param {number} [atX] @param {number} [atY] The place that stays, in the picture. */
    zoom(factor, atX = this.width / 2, atY = this.height / 2) {
        const [x, y] = this.placeAt(atX, atY);
        const before = this.view.scale;
        this.set(this.view.x, this.view.y, before * factor);
        const done = this.view.scale / before;
        this.set(x + (this.view.x - x) / done, y + (this.view.y - y) / done, this.view.scale);
    }

    /** @param {number} atX @param {number} atY */
    placeAt(atX, atY) {
        const { x, y, scale } = this.view;
        return [x + (atX - this.width / 2) / scale, y + (atY - this.height / 2) / scale];
    }

    /** The nearest note there, or -1. @param {number} atX @param {number} atY */
    noteAt(atX, atY) {
        const { data, view } = this;
        const [x, y] = this.placeAt(atX, atY);
        let [found, least] = [-1, Infinity];
        for (let note = 0; note < data.count; note += 1) {
            const across = (data.x[note] - x) * view.scale, down = (data.y[note] - y) * view.scale;
            const square = across * across + down * down;
            if (square >= least || !this.user.isShown(note)) continue;
            const reach = radiusOf(data.degree[note], data.count, view.scale) + NEAR;
            if (square <= reach * reach) [found, least] = [note, square];
        }
        return found;
    }

    /** @param {MouseEvent} event @returns {[number, number]} */
    at(event) {
        const box = this.stage.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
    }

    /** @param {WheelEvent} event */
    onWheel(event) {
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0015)), ...this.at(event));
    }

    /** @param {PointerEvent} event */
    onDown(event) {
        this.stage.setPointerCapture(event.pointerId);
        const [x, y] = this.at(event);
        this.pointers.set(event.pointerId, { x, y });
        this.path = this.pointers.size > 1 ? CLICK : 0;
        this.stage.classList.add("drags");
    }

    /** @param {PointerEvent} event */
    onMove(event) {
        const [x, y] = this.at(event);
        const before = this.pointers.get(event.pointerId);
        if (!before) {
            this.user.pointed(this.noteAt(x, y));
            return;
        }
        const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        this.pointers.set(event.pointerId, { x, y });
        this.path += Math.hypot(x - before.x, y - before.y);
        const [other] = others;
        const { scale } = this.view;
        // Two fingers move it half as far each, and apart.
        const share = other ? 0.5 : 1;
        this.set(this.view.x - share * (x - before.x) / scale, this.view.y - share * (y - before.y) / scale, scale);
        if (other) {
            const was = Math.hypot(before.x - other.x, before.y - other.y), is = Math.hypot(x - other.x, y - other.y);
            if (was > 0) this.zoom(is / was, (x + other.x) / 2, (y + other.y) / 2);
        }
    }

    /** @param {PointerEvent} event */
    onUp(event) {
        if (!this.pointers.delete(event.pointerId)) return;
        if (this.pointers.size === 0) this.stage.classList.remove("drags");
        if (event.type === "pointerup" && this.path < CLICK) this.user.chosen(this.noteAt(...this.at(event)));
    }

    /** @param {KeyboardEvent} event */
    onKey(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const step = 60 / this.view.scale;
        /** @type {Record<string, () => void>} */
        const keys = {
            ArrowLeft: () => this.set(this.view.x - step, this.view.y, this.view.scale),
            ArrowRight: () => this.set(this.view.x + step, this.view.y, this.view.scale),
            ArrowUp: () => this.set(this.view.x, this.view.y - step, this.view.scale),
            ArrowDown: () => this.set(this.view.x, this.view.y + step, this.view.scale),
            "+": () => this.zoom(1.25),
            "=": () => this.zoom(1.25),
            "-": () => this.zoom(1 / 1.25),
            "0": () => this.fit(),
            // The note in the middle, for those who move without a mouse.
            Enter: () => this.user.chosen(this.noteAt(this.width / 2, this.height / 2)),
            Escape: () => this.user.chosen(-1),
        };
        if (event.key in keys) {
            keys[event.key]();
            event.preventDefault();
        }
    }
}
