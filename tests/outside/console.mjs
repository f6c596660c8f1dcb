// The console in a real browser: sign in, approve, reject, edit, leave out a file, take back; the bytes on disk each time.
//
//     MODULES=node_modules [CHROMIUM=/usr/bin/chromium] node console.mjs BINARY
//
// SHOTS=FOLDER keeps pictures of the pages, for people to look at.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const binary = resolve(process.argv[2])
const modules = resolve(process.env.MODULES)
const load = createRequire(join(modules, 'x.js'))
const { chromium } = load('playwright-core')
const axe = readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8')
const found = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = found.find((path) => path && existsSync(path))
const shots = process.env.SHOTS
if (shots) mkdirSync(shots, { recursive: true })

function assert(truth, message) {
  if (!truth) throw new Error(message)
}

function same(one, other, message) {
  assert(one === other, `${message}: ${JSON.stringify(one)} instead of ${JSON.stringify(other)}`)
}

// Names and texts that want to be more than text.
const HOSTILE = '<img src=x onerror=alert(1)>'
const NOTES = {
  'Plan.md': '# Plan\n\nThe roof leaks. #home\n\n- call the roofer\n',
  'Garden.md': '# Garden\n\nTomatoes in May. #home\n',
  [`Odd ${'\u202e'}name.md`]: `${HOSTILE} \u202e reversed #home\n`,
  'Windows.md': '\ufeffone\r\ntwo #home\r\n',
}

// A vault whose changes need approval, with a console on it.
async function withConsole(run) {
  const folder = mkdtempSync(join(tmpdir(), 'lapidary-console-'))
  const vault = join(folder, 'Notes')
  mkdirSync(join(vault, '.obsidian'), { recursive: true })
  for (const [name, text] of Object.entries(NOTES)) writeFileSync(join(vault, name), text)
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    LAPIDARY_STATE_DIR: join(folder, 'state'),
    LAPIDARY_APPROVAL: 'write=ask',
  }
  const server = spawn(binary, ['console', '--no-browser', '--vault', vault], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((done) => server.once('exit', done))
  let said = ''
  server.stderr.on('data', (data) => (said += data))
  try {
    const link = await new Promise((done, failed) => {
      let line = ''
      server.stdout.on('data', (data) => {
        line += data
        if (line.includes('\n')) done(line.trim())
      })
      server.on('exit', () => failed(new Error(said)))
    })
    const place = {
      link,
      origin: new URL(link).origin,
      // A client that cannot be asked: what it wants waits.
      call(tool, argument) {
        const call = spawnSync(binary, ['call', '--vault', vault, tool, JSON.stringify(argument)], { env, input: '' })
        return call.stdout.toString() + call.stderr.toString()
      },
      read: (name) => readFileSync(join(vault, name), 'utf8'),
      write: (name, text) => writeFileSync(join(vault, name), text),
    }
    await run(place)
  } finally {
    server.kill()
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
}

// A browser that fails the test for anything that a page must not do.
async function withPage(place, options, run) {
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] })
  const problems = []
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    // A busy machine is slow, and not wrong.
    context.setDefaultTimeout(120_000)
    const page = await context.newPage()
    page.on('console', (message) => {
      // A refused answer is logged by the browser itself.
      if (!/status of 4\d\d/.test(message.text())) problems.push(`console: ${message.text()}`)
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
    await browser.close()
  }
}

async function signedIn(place, page) {
  await page.goto(place.link)
  await page.getByRole('heading', { name: 'Approvals' }).waitFor()
  assert(!page.url().includes('#'), 'the code is gone from the address')
}

async function shot(page, name) {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true })
}

// Opens the request, from the list.
async function open(place, page) {
  await page.goto(`${place.origin}/console/`)
  await page.locator('#approvals a').first().click()
  await page.getByRole('heading', { level: 1 }).waitFor()
}

const edit = (file, find, replace) => ['str_replace', { file, find, replace }]

const tests = {
  async 'the code signs in once, and nothing is seen without it'(place) {
    await withPage(place, {}, async (page, context) => {
      for (const path of ['/console/', '/console/activity', '/console/history', '/console/approvals/x']) {
        const answer = await page.goto(place.origin + path)
        same(answer.status(), 401, path)
        await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
      }
      await shot(page, 'sign-in')
      await signedIn(place, page)
      const cookie = (await context.cookies())[0]
      assert(cookie.httpOnly && cookie.sameSite === 'Strict', 'the cookie is for this site alone')
      await context.clearCookies()
      await page.goto('about:blank')
      await page.goto(place.link)
      await page.getByText('That code is not valid').waitFor()
    })
  },
  async 'a change is approved with its diff, and taken back'(place) {
    place.call(...edit('Plan.md', 'leaks', 'is new'))
    same(place.read('Plan.md'), NOTES['Plan.md'], 'it waits')
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await shot(page, 'approvals')
      await open(place, page)
      await page.locator('.diff del', { hasText: 'leaks' }).waitFor()
      await shot(page, 'approval')
      await page.goto(`${page.url()}?view=split`)
      await page.locator('.diff.split').waitFor()
      await shot(page, 'approval-split')
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
      same(place.read('Plan.md'), NOTES['Plan.md'].replace('leaks', 'is new'), 'approved')
      assert(place.call(...edit('Plan.md', 'leaks', 'is new')).includes('The owner approved it'), 'the client is told')
      await page.getByRole('link', { name: 'See the change' }).click()
      await page.locator('.diff del', { hasText: 'new' }).waitFor()
      await shot(page, 'restore')
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), NOTES['Plan.md'], 'taken back')
      await page.goto(`${place.origin}/console/history`)
      assert((await page.locator('.card').count()) >= 2, 'both changes are in the history')
      await shot(page, 'history')
    })
  },
  async 'a change is rejected with words that the client reads'(place) {
    place.call(...edit('Plan.md', 'leaks', 'is gone'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await open(place, page)
      await page.getByLabel('Words to the assistant').fill('Write it as a question.')
      await page.getByRole('button', { name: 'Reject' }).click()
      await page.getByRole('heading', { name: 'Rejected' }).waitFor()
    })
    const told = place.call(...edit('Plan.md', 'leaks', 'is gone'))
    assert(told.includes('Write it as a question.'), told)
    same(place.read('Plan.md'), NOTES['Plan.md'], 'nothing changed')
  },
  async 'the owner edits the result, sees it, and approves that'(place) {
    place.call(...edit('Windows.md', 'two', 'TWO'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await open(place, page)
      await page.getByText('Edit the result').click()
      await page.getByLabel('New text of Windows.md').fill('one\nmine\n')
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      // It was not shown yet.
      await page.getByText('This is not what was on the page before').waitFor()
      same(place.read('Windows.md'), NOTES['Windows.md'], 'not yet')
      await page.locator('.diff ins, .diff .added', { hasText: 'mine' }).first().waitFor()
      await shot(page, 'approval-edited')
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
      same(place.read('Windows.md'), '\ufeffone\r\nmine\r\n', 'in the form of the file')
    })
    const told = place.call(...edit('Windows.md', 'two', 'TWO'))
    assert(told.includes('changed the new text'), told)
  },
  async 'a file is left out of a change that can be separated'(place) {
    place.call('tag_rename', { from: 'home', to: 'house' })
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await open(place, page)
      same(await page.locator('section.file').count(), Object.keys(NOTES).length, 'every file is shown')
      for (const tick of await page.getByLabel('Include this file').all()) await tick.uncheck()
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByText('To make none of it, reject it').waitFor()
      for (const [name, text] of Object.entries(NOTES)) same(place.read(name), text, 'none is not all')
      await page.locator('section.file', { hasText: 'Garden.md' }).getByLabel('Include this file').uncheck()
      await page.getByRole('button', { name: 'Show it with my edits' }).click()
      await page.getByText('This is the change with your edits').waitFor()
      // The ticks are those of the form that was sent.
      await page.locator('section.file', { hasText: 'Garden.md' }).getByText('left out').waitFor()
      assert(!(await page.locator('section.file', { hasText: 'Garden.md' }).getByLabel('Include this file').isChecked()), 'ticked')
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
    })
    same(place.read('Garden.md'), NOTES['Garden.md'], 'left out')
    assert(place.read('Plan.md').includes('#house'), 'the others are changed')
  },
  async 'a change that went stale is shown again before it is made'(place) {
    place.call(...edit('Plan.md', 'leaks', 'holds'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await open(place, page)
      const other = NOTES['Plan.md'].replace('call', 'phone')
      place.write('Plan.md', other)
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByText('This is not what was on the page before').waitFor()
      same(place.read('Plan.md'), other, 'not made')
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
      same(place.read('Plan.md'), other.replace('leaks', 'holds'), 'what was shown')
    })
  },
  async 'a second submit and a form of another session change nothing'(place) {
    place.call(...edit('Plan.md', 'leaks', 'holds'))
    await withPage(place, {}, async (page, context) => {
      await signedIn(place, page)
      await open(place, page)
      const address = page.url()
      const form = { form: 'sha256:0', digest: await page.locator('[name=digest]').inputValue(), decision: 'approve' }
      const headers = { origin: place.origin }
      same((await context.request.post(address, { form, headers })).status(), 403, 'a wrong token')
      same((await context.request.post(address, { form, headers: { origin: 'https://example.com' } })).status(), 403, 'another site')
      same(place.read('Plan.md'), NOTES['Plan.md'], 'nothing changed')
      form.form = await page.locator('.decide [name=form]').inputValue()
      same((await context.request.post(address, { form, headers })).status(), 200, 'the form of the page')
      same((await context.request.post(address, { form, headers })).status(), 404, 'once is enough')
      same(place.read('Plan.md'), NOTES['Plan.md'].replace('leaks', 'holds'), 'made once')
    })
  },
  async 'calls appear without reloading, and filters are in the address'(place) {
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.getByRole('link', { name: 'Activity' }).click()
      await page.getByRole('heading', { name: 'Activity' }).waitFor()
      place.call('file_read', { file: 'Garden.md' })
      await page.locator('#calls tbody tr', { hasText: 'Garden.md' }).first().waitFor()
      place.call('file_read', { file: 'Nothing.md' })
      await page.locator('#calls .refused').first().waitFor()
      await page.goto(`${place.origin}/console/activity?outcome=refused`)
      same(await page.locator('#calls tbody tr').count(), await page.locator('#calls .refused').count(), 'only refusals')
      await shot(page, 'activity')
      // The next request makes the number appear, wherever the owner is.
      place.call(...edit('Plan.md', 'leaks', 'holds'))
      await page.locator('#pending', { hasText: '1' }).waitFor()
      assert((await page.title()).startsWith('(1) '), await page.title())
      const csv = await (await page.context().request.get(`${place.origin}/console/activity.csv`)).text()
      assert(csv.startsWith('time,client,tool') && csv.includes('Garden.md'), csv)
    })
  },
  async 'hostile names and texts are shown as text'(place) {
    place.call('tag_rename', { from: 'home', to: 'x' })
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await open(place, page)
      const text = await page.locator('main').innerText()
      assert(text.includes(HOSTILE), 'as it is written')
      assert(!text.includes('\u202e'), 'nothing turns the text around')
      same(await page.locator('main img').count(), 0, 'no picture')
    })
  },
  async 'everything works with the keyboard alone, on a phone, in the dark'(place) {
    place.call(...edit('Plan.md', 'leaks', 'holds'))
    await withPage(place, { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }, async (page) => {
      await signedIn(place, page)
      for (const path of ['/console/', '/console/activity', '/console/history']) {
        await page.goto(place.origin + path)
        const wide = await page.evaluate(() => document.documentElement.scrollWidth)
        assert(wide <= 360, `${path} is ${wide} px wide`)
        await shot(page, `phone${path.replaceAll('/', '-')}`)
      }
      await page.goto(`${place.origin}/console/`)
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator('.decide').waitFor()
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      assert(wide <= 360, `the approval is ${wide} px wide`)
      await shot(page, 'phone-approval')
      same(place.read('Plan.md'), NOTES['Plan.md'], 'keys that move change nothing')
      await page.keyboard.press('a')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
      same(place.read('Plan.md'), NOTES['Plan.md'].replace('leaks', 'holds'), 'approved')
    })
  },
  async 'pages are accessible, in both schemes'(place) {
    place.call('tag_rename', { from: 'home', to: 'house' })
    for (const colorScheme of ['light', 'dark']) {
      // The checker itself is a script that the policy would refuse.
      if (colorScheme === 'dark') place.link = null
      await withPage(place, { bypassCSP: true, colorScheme, ...(place.cookies ? { storageState: place.cookies } : {}) }, async (page, context) => {
        if (place.link) await signedIn(place, page)
        place.cookies = await context.storageState()
        await page.goto(`${place.origin}/console/`)
        const approval = await page.locator('#approvals a').first().getAttribute('href')
        for (const path of ['/console/', approval, `${approval}?view=split`, '/console/activity', '/console/history']) {
          await page.goto(place.origin + path)
          await page.evaluate(axe)
          const { violations } = await page.evaluate(() => window.axe.run())
          same(violations.map((rule) => `${rule.id} ${rule.nodes[0]?.html}`).join('; '), '', `${path} in ${colorScheme}`)
        }
      })
    }
  },
}

let passed = 0
let failed = 0
for (const [name, test] of Object.entries(tests)) {
  try {
    await withConsole(test)
    passed += 1
  } catch (error) {
    failed += 1
    console.log(`FAILED: ${name}\n${error.stack}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
