// The notes and links of a vault, as the server sends them: numbers in a row, names after them.

const MAGIC = 0x3152474c;

/** Notes are numbers, in path order. */
export class GraphData {
    /** @param {ArrayBuffer} bytes */
    constructor(bytes) {
        const [magic, notes, links, uses, names] = new Uint32Array(bytes, 0, 5);
        if (magic !== MAGIC) throw new Error("the picture is of another version: reload the page");
        let at = 20;
        /** @param {number} count */
        const numbers = (count) => {
            at += 4 * count;
            return new Uint32Array(bytes, at - 4 * count, count);
        };
        this.count = notes;
        this.x = new Float32Array(bytes, at, notes);
        at += 4 * notes;
        this.y = new Float32Array(bytes, at, notes);
        at += 4 * notes;
        /** When each was made and changed, in seconds; 0 if that is unknown. */
        this.made = numbers(notes);
        this.changed = numbers(notes);
        this.bytes = numbers(notes);
        this.folder = numbers(notes);
        /** Pairs: from, to. */
        this.links = numbers(2 * links);
        this.tagStarts = numbers(notes + 1);
        this.tags = numbers(uses);
        /** @type {{mark: string, folders: string[], tags: string[]}} */
        this.names = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, at, names)));
        this.degree = new Uint32Array(notes);
        for (const note of this.links) this.degree[note] += 1;
        /** Those with the most links first. */
        this.byDegree = Uint32Array.from({ length: notes }, (_, note) => note)
            .sort((one, other) => this.degree[other] - this.degree[one] || one - other);
    }

    /** @param {number} note */
    tagsOf(note) {
        return this.tags.subarray(this.tagStarts[note], this.tagStarts[note + 1]);
    }

    /** The notes that it links to, and those that link to it. @param {number} note */
    neighbours(note) {
        /** @type {number[]} */
        const targets = [], sources = [];
        for (let at = 0; at < this.links.length; at += 2) {
            if (this.links[at] === note) targets.push(this.links[at + 1]);
            if (this.links[at + 1] === note) sources.push(this.links[at]);
        }
        return { targets, sources };
    }
}
