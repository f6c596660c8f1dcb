// What every test of the console's pages needs: a vault with a console on it, browser contexts that fail a test for anything
// that a page must not do, the accessibility checker, pictures.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const binary = resolve(process.argv[2])
export const modules = resolve(process.env.MODULES)
export const load = createRequire(join(modules, 'x.js'))
const { chromium } = load('playwright-core')
const axe = readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8')
const found = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = found.find((path) => path && existsSync(path))
const shots = process.env.SHOTS
if (shots) mkdirSync(shots, { recursive: true })

export function assert(truth, message) {
  if (!truth) throw new Error(message)
}

export function same(one, other, message) {
  assert(one === other, `${message}: ${JSON.stringify(one)} instead of ${JSON.stringify(other)}`)
}

// Names and texts that want to be more than text.
export const HOSTILE = '<img src=x onerror=alert(1)>'
export const NOTES = {
  'Plan.md': '# Plan\n\nThe roof leaks. #home\n\n- call the roofer\n',
  'Garden.md': '# Garden\n\nTomatoes in May. #home\n',
  [`Odd ${'\u202e'}name.md`]: `${HOSTILE} \u202e reversed #home\n`,
  'Windows.md': '\ufeffone\r\ntwo #home\r\n',
}

// Starts the program and waits for what it says, on either stream: `heard` returns it when it is there.
export async function started(words, env, heard) {
  const program = spawn(binary, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((done) => program.once('exit', done))
  const stop = async () => {
    program.kill()
    await ended
  }
  const link = await new Promise((done, failed) => {
    let said = ''
    const take = (data) => {
      said += data
      const found = heard(said)
      if (found) done(found)
    }
    program.stdout.on('data', take)
    // Notes for people, which may come first.
    let noted = ''
    program.stderr.on('data', (data) => (words[0] === 'console' ? (noted += data) : take(data)))
    program.on('exit', () => failed(new Error(`${words.join(' ')} ended: ${said}${noted}`)))
  })
  return { link, stop }
}

// What the program prints when it is run to its end.
export function ran(words, env, input = '') {
  const run = spawnSync(binary, words, { env, input })
  return { out: run.stdout.toString(), said: run.stderr.toString(), status: run.status }
}

// A vault whose changes need approval, with a console on it. `notes`, `env` and `options` (of the command) may differ.
export async function withConsole({ notes = NOTES, env: more = {}, options = [] }, run) {
  const folder = mkdtempSync(join(tmpdir(), 'lapidary-console-'))
  const vault = join(folder, 'Notes')
  mkdirSync(join(vault, '.obsidian'), { recursive: true })
  for (const [name, text] of Object.entries(notes)) {
    mkdirSync(dirname(join(vault, name)), { recursive: true })
    writeFileSync(join(vault, name), text)
  }
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LAPIDARY_STATE_DIR: join(folder, 'state'),
    LAPIDARY_APPROVAL: 'write=ask',
    ...more,
  }
  const { link, stop } = await started(['console', '--no-browser', '--vault', vault, ...options], env, (said) => said.includes('\n') && said.trim())
  try {
    const place = {
      folder,
      vault,
      env,
      link,
      origin: new URL(link).origin,
      // A client that cannot be asked: what it wants waits.
      call(tool, argument) {
        const { out, said } = ran(['call', '--vault', vault, tool, JSON.stringify(argument)], env)
        return out + said
      },
      // A client that may: what it wants is done at once.
      change(tool, argument) {
        const { out, said, status } = ran(['call', '--vault', vault, tool, JSON.stringify(argument)], { ...env, LAPIDARY_APPROVAL: 'write=allow' })
        assert(status === 0, `${tool}: ${out}${said}`)
        return out
      },
      read: (name) => readFileSync(join(vault, name), 'utf8'),
      write: (name, text) => writeFileSync(join(vault, name), text),
      log: () => readdirSync(join(folder, 'state'), { recursive: true }).filter((name) => name.endsWith('audit.jsonl')).map((name) => join(folder, 'state', name))[0],
      exists: (name) => existsSync(join(vault, name)),
    }
    await run(place)
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

let running
// One browser for all tests; each has contexts of its own.
async function browser() {
  running ??= await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
  return running
}

export async function closeBrowser() {
  await running?.close()
}

// A context that fails the test for anything that a page must not do.
export async function withPage(place, { mayLose = false, ...options }, run) {
  const problems = []
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 900 }, ...options })
  try {
    // A busy machine is slow, and not wrong.
    context.setDefaultTimeout(120_000)
    const page = await context.newPage()
    page.on('console', (message) => {
      // A refused answer is logged by the browser itself.
      const isLost = mayLose && /ERR_(CONNECTION|INCOMPLETE|EMPTY|NETWORK)/.test(message.text())
      if (!isLost && !/status of 4\d\d/.test(message.text())) problems.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => problems.push(`error: ${error}`))
    page.on('dialog', (dialog) => {
      problems.push(`dialog: ${dialog.message()}`)
      dialog.dismiss()
    })
    await context.route('**', (route) => {
      if (route.request().url().startsWith(place.origin)) return route.continue()
      problems.push(`request to ${route.request().url()}`)
      return route.abort()
    })
    await run(page, context)
    same(problems.join('; '), '', 'the pages did nothing that they must not')
  } finally {
    await context.close()
  }
}

// The code in the link works once; after that the session of the first page is used.
export async function signedIn(place, page) {
  if (place.cookies) {
    await page.context().addCookies(place.cookies)
    await page.goto(`${place.origin}/console/`)
  } else {
    await page.goto(place.link)
  }
  await page.getByRole('heading', { name: 'Approvals' }).waitFor()
  assert(!page.url().includes('#'), 'the code is gone from the address')
  place.cookies = await page.context().cookies()
}

export async function shot(page, name) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true })
}

// Each page in both schemes, on a screen and on a phone: accessible, not wider than the screen, drawn for people to look at.
// `settled` waits for what a page does after it has come.
export async function areFit(place, paths, settled = async () => {}) {
  for (const colorScheme of ['light', 'dark']) {
    // The checker itself is a script that the policy would refuse.
    await withPage(place, { bypassCSP: true, colorScheme }, async (page) => {
      await signedIn(place, page)
      for (const path of paths) {
        await page.goto(place.origin + path)
        await settled(page)
        await page.evaluate(axe)
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: width === 360 ? 740 : 900 })
          const { violations } = await page.evaluate(() => window.axe.run())
          same(violations.map((rule) => `${rule.id} ${rule.nodes[0]?.html}`).join('; '), '', `${path} in ${colorScheme} at ${width}`)
          const wide = await page.evaluate(() => document.documentElement.scrollWidth)
          assert(wide <= width, `${path} is ${wide} px wide at ${width}`)
          const name = path.replace(/^\/console\/?/, '').replace(/approvals\/[^?]*/, 'approval').replace(/(activity\/call|history\/[^?]*|versions)\?.*/, '$1').replace(/[^a-z0-9]+/gi, '-')
          await shot(page, `${name || 'approvals'}-${width}-${colorScheme}`)
        }
      }
    })
  }
}
