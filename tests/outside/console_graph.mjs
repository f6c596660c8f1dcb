// The vault page and the link graph of the console.
//
// GRAPH=10000 also draws a vault of that many notes, with four times as many links, and prints how long that takes.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { GraphData } from '../../crates/console/static/graph-data.js'
import { Raster } from '../../crates/console/static/raster.js'
import { HOSTILE, areFit, assert, same, shot, signedIn, withConsole, withPage } from './console_kit.mjs'

// Three folders around a hub, a few notes without links, and names that want to be more.
const notes = { 'Hub.md': 'The middle. [[Garden 0]] [[House 0]] [[Travel 0]] [[Missing]] #home\n' }
for (const folder of ['Garden', 'House', 'Travel']) {
  for (let number = 0; number < 9; number += 1) {
    const next = `[[${folder} ${(number + 1) % 9}]] [[${folder} 0]]`
    notes[`${folder}/${folder} ${number}.md`] = `# ${folder} ${number}\n\n${next} #${folder.toLowerCase()}\n`
  }
}
notes['Garden/Garden 4.md'] += '[[House 4]]\n'
for (let number = 0; number < 4; number += 1) notes[`Alone ${number}.md`] = 'Nothing.\n'
const odd = `Odd ${'\u202e'}${HOSTILE.replaceAll('/', '')}.md`
notes[odd] = `${HOSTILE} [[Hub]] #home\n`

export const place = { notes }

async function openGraph(place, page, query = '') {
  await signedIn(place, page)
  await page.goto(`${place.origin}/console/graph${query}`)
  await page.locator('#picture[data-ready]').waitFor()
}

// The data of the picture, as the page gets it.
async function graphBytes(page, place) {
  const answer = await page.request.get(`${place.origin}/console/graph.bin`)
  same(answer.status(), 200, 'the places are known')
  const body = await answer.body()
  return body.buffer.slice(body.byteOffset, body.byteOffset + body.length)
}

const listed = (page) => page.locator('#found tbody a').allTextContents()

// Waits until a list is as expected.
async function becomes(look, expected, message) {
  let found
  for (let tries = 0; tries < 600; tries += 1) {
    found = JSON.stringify(await look())
    if (found === JSON.stringify(expected)) return
    await new Promise((done) => setTimeout(done, 100))
  }
  throw new Error(`${message}: ${found} instead of ${JSON.stringify(expected)}`)
}

// The pixels of a PNG that has no filters, as `pngOf` makes it.
function pixelsOf(png) {
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20), data = []
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const rows = inflateSync(Buffer.concat(data)), pixels = Buffer.alloc(4 * width * height)
  for (let row = 0; row < height; row += 1) rows.copy(pixels, 4 * width * row, row * (4 * width + 1) + 1, (row + 1) * (4 * width + 1))
  return pixels
}

export const tests = {
  async 'the pages are accessible, in both schemes and widths'(place) {
    const settled = async (page) => {
      if (!page.url().includes('graph')) return
      await page.locator('#picture[data-ready]').waitFor()
      await page.waitForTimeout(400)
    }
    await areFit(place, ['/console/vault', '/console/graph?note=Hub.md'], settled)
  },

  async 'filters, words and time say which notes are shown'(place) {
    await withPage(place, {}, async (page) => {
      await openGraph(place, page)
      const all = (await listed(page)).length
      same(all, Object.keys(notes).length, 'all notes are listed')
      same((await listed(page))[0], 'Garden 0', 'the most linked first')
      await page.getByLabel('Find').fill('house 4')
      await becomes(() => listed(page), ['House 4'], 'found by words')
      assert(page.url().includes('find=house+4'), 'the address says so')
      await page.getByLabel('Find').fill('')
      await page.getByLabel('Folder').selectOption('Travel')
      await becomes(async () => (await listed(page)).length, 9, 'a folder')
      await page.getByLabel('Folder').selectOption('')
      await page.getByLabel('Tag').selectOption('home')
      await becomes(async () => (await listed(page)).length, 2, 'a tag')
      await page.getByLabel('Tag').selectOption('')
      await page.locator('#links').selectOption('none')
      await becomes(() => listed(page), ['Alone 0', 'Alone 1', 'Alone 2', 'Alone 3'], 'without links')
      await page.locator('#links').selectOption('')
      await becomes(async () => (await listed(page)).length, all, 'all again')
      for (const by of ['tag', 'age', 'folder']) await page.getByLabel('Colours by').selectOption(by)
      same(await page.locator('#legend li').count(), 4, 'three folders and the rest')
    })
  },

  async 'a note is chosen by mouse, by keys and in the list, with its neighbours'(place) {
    await withPage(place, {}, async (page) => {
      await openGraph(place, page)
      const heading = page.locator('#panel h2')
      await page.locator('#found').getByRole('link', { name: 'Hub', exact: true }).click()
      await becomes(() => heading.textContent(), 'Hub', 'chosen in the list')
      same((await page.locator('#panel ul').first().locator('a').allTextContents()).join(), 'Garden 0,House 0,Travel 0', 'what it links to')
      same(await page.getByRole('link', { name: 'Open in Obsidian' }).getAttribute('href'), 'obsidian://open?vault=Notes&file=Hub.md', 'opens the app')
      await page.getByLabel('Way to another note').fill('House 4')
      await page.getByRole('button', { name: 'Find' }).click()
      await becomes(async () => (await page.locator('#panel ol a').allTextContents()).join(), 'Hub,House 0,House 4', 'the way')
      await page.getByLabel('Way to another note').fill('Alone 1')
      await page.keyboard.press('Enter')
      await page.getByText('No links lead from one to the other.').waitFor()
      // One note in the middle of the picture, by mouse and by keys alone.
      await page.getByLabel('Find').fill('travel 3')
      await becomes(() => listed(page), ['Travel 3'], 'found')
      await page.getByRole('button', { name: 'Fit' }).click()
      await page.locator('#stage').click()
      await becomes(() => heading.textContent(), 'Travel 3', 'chosen with the mouse')
      await page.getByLabel('Find').fill('travel 5')
      await becomes(() => listed(page), ['Travel 5'], 'found')
      await page.locator('#stage').focus()
      for (const key of ['+', 'ArrowLeft', 'ArrowUp', '-', '0', 'Enter']) await page.keyboard.press(key)
      await becomes(() => heading.textContent(), 'Travel 5', 'chosen with keys')
      assert(page.url().includes('note=Travel%2FTravel+5.md'), 'the address says so')
      await page.reload()
      await page.locator('#picture[data-ready]').waitFor()
      await becomes(() => heading.textContent(), 'Travel 5', 'chosen by the address')
    })
  },

  async 'the picture is saved as PNG and SVG, and names are only text'(place) {
    await withPage(place, { acceptDownloads: true }, async (page) => {
      await openGraph(place, page)
      await page.getByLabel('Find').fill('odd')
      await becomes(async () => (await listed(page)).length, 1, 'found')
      await page.getByRole('button', { name: 'Fit' }).click()
      await page.locator('#found tbody a').click()
      await becomes(async () => (await page.locator('#panel h2').textContent())?.includes(HOSTILE.replaceAll('/', '')), true, 'a name is text')
      same(await page.locator('img[src="x"]').count(), 0, 'no markup of a name')
      assert(!(await page.locator('#panel').innerHTML()).replace(/title="[^"]*"/g, '').includes('\u202e'), 'no turned text')
      for (const [name, begins] of [['PNG', '\x89PNG'], ['SVG', '<svg xmlns=']]) {
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: `Save ${name}` }).click()])
        const file = readFileSync(await download.path())
        assert(file.toString('latin1').startsWith(begins), `a ${name} file`)
        assert(!file.includes('<img'), 'a name is text in a file')
      }
    })
  },

  async 'without a script everything can be read'(place) {
    await withPage(place, {}, (page) => signedIn(place, page))
    await withPage(place, { javaScriptEnabled: false }, async (page) => {
      await page.context().addCookies(place.cookies)
      await page.goto(`${place.origin}/console/graph`)
      same(await page.locator('#picture').isVisible(), false, 'no picture')
      await page.getByLabel('Folder').selectOption('House')
      await page.getByRole('button', { name: 'Show' }).click()
      same((await listed(page)).length, 9, 'filtered by the server')
      await page.getByRole('link', { name: 'House 0', exact: true }).click()
      await page.getByLabel('Way to another note').fill('Travel 0')
      await page.getByRole('button', { name: 'Find' }).click()
      same((await page.locator('#panel ol a').allTextContents()).join(), 'House 0,Hub,Travel 0', 'the way')
      await page.goto(`${place.origin}/console/vault`)
      await page.getByRole('link', { name: '#garden' }).click()
      same((await listed(page)).length, 9, 'a tag leads to its notes')
    })
  },

  async 'the vault page says what is there'(place) {
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.keyboard.press('g')
      await page.keyboard.press('v')
      await page.getByRole('heading', { name: 'Vault', exact: true }).waitFor()
      await page.waitForLoadState('load')
      const text = await page.locator('main').textContent()
      for (const part of ['Missing', 'Alone 2', '#travel', `${Object.keys(notes).length} (`]) assert(text.includes(part), `no ${part}`)
      await page.keyboard.press('g')
      await page.keyboard.press('g')
      await page.locator('#picture[data-ready]').waitFor()
    })
  },

  // The same bytes on every machine: places, links, discs.
  async 'the picture of a small vault is the stored one'(place) {
    await withPage(place, {}, async (page) => {
      await openGraph(place, page)
      const data = new GraphData(await graphBytes(page, place))
      const group = Uint8Array.from(data.folder, (folder) => folder % 7)
      const lit = Uint8Array.from(data.folder, (folder) => Number(folder === 1))
      const scene = { ...data, group, shown: new Uint8Array(data.count).fill(1), lit: null, marked: new Uint32Array() }
      const look = { ground: 0xffffff, link: 0x6d675c, accent: 0xb1590a, groups: [0x8d8a84, 0x3366a8, 0xc8423e, 0x1b7f3b, 0xa8801c, 0x9a3a86, 0x2aa1bd] }
      const raster = new Raster(320, 320)
      const view = { x: 0, y: 0, scale: 0.55 }
      raster.drawLinks(scene, view, look)
      // One half as it is at rest, one lit and moved.
      const pixels = raster.compose(scene, view, look).slice()
      raster.compose({ ...scene, lit, marked: data.links.slice(0, 6) }, { x: 10, y: -20, scale: 0.8 }, look)
      pixels.set(raster.pixels.subarray(320 * 160), 320 * 160)
      const stored = join(import.meta.dirname, 'graph_small.png')
      const made = Buffer.from(pixels.buffer)
      if (!existsSync(stored) || process.env.ACCEPT) writeFileSync(stored, await pngOf(320, 320, made))
      const expected = pixelsOf(readFileSync(stored))
      const others = expected.length === made.length ? made.reduce((count, byte, at) => count + Number(byte !== expected[at]), 0) : made.length
      same(others, 0, 'bytes that differ; look at the picture, then run with ACCEPT=1')
    })
  },

  // Prints times, and asserts none of them.
  async 'a large vault is drawn smoothly'() {
    const count = Number(process.env.GRAPH ?? 0)
    if (!count) return
    const large = {}
    let seed = 1
    const random = (below) => {
      seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
      return Math.floor(seed / 0x80000000 * below)
    }
    for (let number = 0; number < count; number += 1) {
      const targets = [1, 2, 3, 4].map((_, at) => {
        const other = at < 3 || random(4) ? number - (number % 250) + random(250) : random(count)
        return `[[Note ${other % count}]]`
      })
      large[`Area ${Math.floor(number / 250)}/Note ${number}.md`] = `${targets.join(' ')} #area${Math.floor(number / 1000)}\n`
    }
    await withConsole({ notes: large }, async (place) => {
      await withPage(place, { viewport: { width: 1280, height: 900 } }, async (page) => {
        await signedIn(place, page)
        const began = Date.now()
        await page.goto(`${place.origin}/console/graph`)
        await page.locator('#picture[data-ready]').waitFor({ timeout: 600_000 })
        const first = Date.now()
        await page.reload()
        await page.locator('#picture[data-ready]').waitFor()
        console.log(`graph: ${count} notes shown after ${first - began} ms, the second time after ${Date.now() - first} ms`)
        const size = (await graphBytes(page, place)).byteLength
        await page.waitForTimeout(1000)
        await shot(page, 'graph-large')
        const [worker] = page.workers()
        // What each frame costs, and when it came.
        await worker.evaluate(() => {
          self.frames = []
          const ask = self.requestAnimationFrame.bind(self)
          self.requestAnimationFrame = (draw) => ask((time) => {
            const began = performance.now()
            draw(time)
            self.frames.push([began, performance.now() - began])
          })
        })
        await page.locator('#stage').evaluate(async (stage) => {
          const box = stage.getBoundingClientRect()
          const at = (x, y) => ({ clientX: box.left + x, clientY: box.top + y, bubbles: true, pointerId: 1 })
          for (let frame = 0; frame < 180; frame += 1) {
            if (frame % 2) stage.dispatchEvent(new WheelEvent('wheel', { ...at(400, 300), deltaY: frame % 60 < 30 ? -12 : 12, cancelable: true }))
            else stage.dispatchEvent(new KeyboardEvent('keydown', { key: ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown'][frame / 2 % 4] }))
            await new Promise((done) => requestAnimationFrame(done))
          }
        })
        const frames = await worker.evaluate(() => self.frames)
        const middle = (list, share) => list.sort((one, other) => one - other)[Math.floor(list.length * share)]?.toFixed(1)
        const between = frames.slice(1).map(([time], at) => time - frames[at][0]).filter((time) => time < 500)
        const costs = frames.map(([, cost]) => cost)
        console.log(`graph: ${size} bytes; ${frames.length} frames, between them p50 ${middle(between, 0.5)} p95 ${middle(between, 0.95)} ms; `
          + `work in each p50 ${middle(costs, 0.5)} p95 ${middle(costs, 0.95)} ms`)
      })
    })
  },
}

// A PNG without filters.
async function pngOf(width, height, pixels) {
  const { crc32, deflateSync } = await import('node:zlib')
  const rows = Buffer.alloc(height * (4 * width + 1))
  for (let row = 0; row < height; row += 1) pixels.copy(rows, row * (4 * width + 1) + 1, row * 4 * width, (row + 1) * 4 * width)
  const chunk = (name, data) => {
    const whole = Buffer.alloc(data.length + 12)
    whole.writeUInt32BE(data.length, 0)
    whole.write(name, 4, 'latin1')
    data.copy(whole, 8)
    whole.writeUInt32BE(crc32(whole.subarray(4, data.length + 8)), data.length + 8)
    return whole
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width, 0)
  head.writeUInt32BE(height, 4)
  head.set([8, 6, 0, 0, 0], 8)
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}
