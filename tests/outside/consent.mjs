// The built-in authorization server with the official TypeScript client, and its pages in a real browser.
//
//     MODULES=node_modules [CHROMIUM=/usr/bin/chromium] node consent.mjs BINARY
//
// SHOTS=FOLDER keeps pictures of the pages, for people to look at.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const binary = resolve(process.argv[2])
const modules = resolve(process.env.MODULES)
const load = createRequire(join(modules, 'x.js'))
const { Client } = await import(pathToFileURL(load.resolve('@modelcontextprotocol/sdk/client/index.js')))
const { StreamableHTTPClientTransport } = await import(
  pathToFileURL(load.resolve('@modelcontextprotocol/sdk/client/streamableHttp.js'))
)
const { UnauthorizedError } = await import(pathToFileURL(load.resolve('@modelcontextprotocol/sdk/client/auth.js')))
const { chromium } = load('playwright-core')

const PASSPHRASE = 'a passphrase of the owner'
const found = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = found.find((path) => path && existsSync(path))

function assert(truth, message) {
  if (!truth) throw new Error(message)
}

async function withServer(run) {
  const folder = mkdtempSync(join(tmpdir(), 'lapidary-oauth-'))
  for (const vault of ['Notes', 'Family']) {
    mkdirSync(join(folder, vault, 'projects'), { recursive: true })
    writeFileSync(join(folder, vault, 'projects', 'plan.md'), '# Plan\n\nlantern\n')
  }
  const env = { PATH: process.env.PATH, HOME: folder, LAPIDARY_STATE_DIR: join(folder, 'state'), MCP_AUTH_MODE: 'builtin' }
  spawnSync(binary, ['owner', 'set-passphrase'], { env, input: PASSPHRASE })
  const words = ['--vault', join(folder, 'Notes'), '--vault', join(folder, 'Family'), '--http', '127.0.0.1:0']
  const server = spawn(binary, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((done) => server.once('exit', done))
  try {
    const url = await new Promise((found, failed) => {
      let said = ''
      server.stderr.on('data', (data) => {
        said += data
        const match = /serving MCP at (http:\S+)/.exec(said)
        if (match) found(match[1])
      })
      server.on('exit', () => failed(new Error(said)))
    })
    await run(url)
  } finally {
    server.kill()
    // Until then it may still write to its state folder.
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

// A client that keeps what it is given, and says where to send the browser.
function provider(redirectUrl) {
  const kept = {}
  return {
    kept,
    get redirectUrl() {
      return redirectUrl
    },
    get clientMetadata() {
      return { client_name: 'TypeScript client', redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' }
    },
    state: () => 'st&te',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    redirectToAuthorization: (address) => void (kept.address = address),
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
  }
}

// Where the browser arrives in the end: a program on loopback, as clients on this computer have one.
async function callback() {
  let arrived
  const arrival = new Promise((done) => (arrived = done))
  const server = createServer((request, response) => {
    response.end('You can close this page.')
    if (request.url.startsWith('/callback')) arrived(new URL(request.url, 'http://127.0.0.1'))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${server.address().port}/callback`, arrival, close: () => server.close() }
}

async function shot(page, name) {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true })
}

const WIDTHS = { phone: { width: 360, height: 740 }, desktop: { width: 1280, height: 900 } }

const checks = {
  async 'the TypeScript client connects, and the owner consents in a browser'(browser) {
    await withServer(async (url) => {
      const returned = await callback()
      const auth = provider(returned.url)
      const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: auth })
      const refused = await new Client({ name: 'outside', version: '1' }).connect(transport).catch((error) => error)
      assert(refused instanceof UnauthorizedError, String(refused))
      const page = await browser.newPage({ viewport: WIDTHS.phone, javaScriptEnabled: false })
      await page.goto(String(auth.kept.address))
      await page.fill('#passphrase', 'not the passphrase')
      await page.click('text=Sign in >> nth=-1')
      assert((await page.textContent('[role=alert]')).includes('not the passphrase'), 'a wrong passphrase is named')
      await page.fill('#passphrase', PASSPHRASE)
      await page.click('button.main')
      assert((await page.textContent('h1')).includes('Give access'), await page.content())
      await page.check('input[value=reader]')
      await page.uncheck('input[name="vault.Family"]')
      await page.fill('#folders', 'projects/')
      await page.click('button[value=allow]')
      const answer = await returned.arrival
      assert(answer.searchParams.get('state') === 'st&te', String(answer))
      assert(answer.searchParams.get('iss') === new URL(url).origin, String(answer))
      await transport.finishAuth(answer.searchParams.get('code'))
      const client = new Client({ name: 'outside', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: auth }))
      const names = (await client.listTools()).tools.map((tool) => tool.name)
      assert(names.includes('obsidian_get_note') && !names.includes('obsidian_write_note'), names.join())
      const read = await client.callTool({ name: 'file_read', arguments: { file: 'projects/plan.md' } })
      assert(read.content[0].text.includes('lantern'), JSON.stringify(read))
      assert(auth.kept.tokens.scope === 'vault:read', JSON.stringify(auth.kept.tokens.scope))
      // The owner is still signed in, and is asked again nevertheless.
      await page.goto(String(auth.kept.address))
      assert((await page.textContent('h1')).includes('Give access'), 'no consent is remembered')
      await client.close()
      returned.close()
    })
  },
  async 'the form leads to a private scheme, and a denial goes back'(browser) {
    await withServer(async (url) => {
      const origin = new URL(url).origin
      const redirect = 'cursor://anysphere.cursor-mcp/oauth/callback'
      const registered = await fetch(`${origin}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Cursor', redirect_uris: [redirect, 'http://localhost:8787/callback'] }),
      }).then((answer) => answer.json())
      const query = new URLSearchParams({
        response_type: 'code', client_id: registered.client_id, redirect_uri: redirect, state: 's',
        code_challenge: '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU', code_challenge_method: 'S256',
      })
      const page = await browser.newPage({ viewport: WIDTHS.desktop })
      const violations = []
      page.on('console', (message) => violations.push(message.text()))
      await page.goto(`${origin}/authorize?${query}`)
      await page.fill('#passphrase', PASSPHRASE)
      await page.click('button.main')
      await page.click('button[value=allow]').catch(() => {})
      await page.waitForTimeout(500)
      assert(!violations.some((text) => text.includes('form-action')), violations.join('\n'))
      await page.goto(`${origin}/authorize?${query}`)
      const ticket = await page.inputValue('input[name=ticket]')
      const denied = await page.context().request.post(`${origin}/authorize`, {
        form: { action: 'consent', ticket, decision: 'deny' }, headers: { origin }, maxRedirects: 0,
      })
      const { location } = denied.headers()
      assert(location.startsWith(`${redirect}?error=access_denied&state=s&iss=`), location)
    })
  },
  async 'the pages fit a phone and a desktop, by day and by night'(browser) {
    await withServer(async (url) => {
      const auth = provider('https://claude.ai/api/mcp/auth_callback')
      const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: auth })
      await new Client({ name: 'outside', version: '1' }).connect(transport).catch(() => {})
      for (const [name, viewport] of Object.entries(WIDTHS)) {
        for (const colorScheme of ['light', 'dark']) {
          const context = await browser.newContext({ viewport, colorScheme, javaScriptEnabled: false })
          const page = await context.newPage()
          await page.goto(String(auth.kept.address))
          await shot(page, `sign-in-${name}-${colorScheme}`)
          await page.fill('#passphrase', PASSPHRASE)
          await page.click('button.main')
          await shot(page, `consent-${name}-${colorScheme}`)
          for (const button of await page.locator('button').all()) {
            const box = await button.boundingBox()
            assert(box.height >= 44 && box.x >= 0 && box.x + box.width <= viewport.width, JSON.stringify(box))
          }
          const main = await page.locator('main').boundingBox()
          assert(main.x >= 0 && main.x + main.width <= viewport.width, `${name}: ${JSON.stringify(main)}`)
          await context.close()
        }
      }
    })
  },
}

let passed = 0
let failed = 0
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
for (const [name, check] of Object.entries(checks)) {
  try {
    await check(browser)
    passed += 1
  } catch (error) {
    failed += 1
    console.log(`${name} failed:\n${error.stack}`)
  }
}
await browser.close()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
