// Approvals in the console: approve, reject, edit, leave out a file, take back; the bytes on disk each time.
import { areFit, assert, HOSTILE, NOTES, same, shot, signedIn, withPage } from './console_kit.mjs'

// Opens the request, from the list.
async function open(place, page) {
  await page.goto(`${place.origin}/console/`)
  await page.locator('#approvals a').first().click()
  await page.getByRole('heading', { level: 1 }).waitFor()
}

const edit = (file, find, replace) => ['str_replace', { file, find, replace }]
export const tests = {
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
      // Keys count once the scripts of the page have run.
      await page.waitForLoadState('load')
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
  async 'the pages are accessible, in both schemes and widths'(place) {
    place.call('tag_rename', { from: 'home', to: 'house' })
    let approval
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      approval = await page.locator('#approvals a').first().getAttribute('href')
    })
    await areFit(place, ['/console/', approval, `${approval}?view=split`])
  },
  async 'properties are rows, and links lead to their notes'(place) {
    place.write('Linked.md', '---\nstatus: open\ntags: [a]\n---\nsee [[Garden#Beds|the beds]] soon\n')
    place.call(...edit('Linked.md', 'soon', 'now'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      same(await page.locator('#approvals .card').count() > 0, true, 'they wait')
      await page.locator('#approvals a', { hasText: 'str_replace' }).first().click()
      const link = page.locator('.diff a', { hasText: '[[Garden#Beds|the beds]]' }).first()
      same(await link.getAttribute('href'), 'obsidian://open?vault=Notes&file=Garden', 'to the note')
      await shot(page, 'approval-links')
    })
    place.write('Props.md', '---\nstatus: open\ntags: [a]\n---\ntext\n')
    place.call(...edit('Props.md', 'status: open', 'status: "<b>done</b>"'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.locator('#approvals a', { hasText: 'Props.md' }).first().click()
      const row = page.locator('.properties tbody tr')
      same(await row.count(), 1, 'only what changes')
      same((await row.innerText()).replace(/\s+/g, ' '), 'status open <b>done</b>', 'before and after')
      await shot(page, 'approval-properties')
    })
  },
  async 'a request is counted in the title and the icon, and told once it may be'(place) {
    await withPage(place, { permissions: ['notifications'] }, async (page) => {
      await page.addInitScript(() => {
        window.told = []
        window.Notification = class {
          static permission = 'granted'
          static requestPermission = async () => 'granted'
          constructor(title, options) { window.told.push(options.body); sessionStorage.told = JSON.stringify(window.told) }
        }
      })
      await signedIn(place, page)
      const icon = () => page.locator('link[rel="icon"]').getAttribute('href')
      assert((await icon()).endsWith('/icon.svg'), await icon())
      same(await page.getByLabel('Show a notification').isChecked(), false, 'off until the owner wants it')
      await page.goto(`${place.origin}/console/activity`)
      place.call(...edit('Plan.md', 'leaks', 'holds'))
      await page.locator('#pending', { hasText: '1' }).waitFor()
      assert((await icon()).endsWith('/icon-1.svg'), await icon())
      same((await page.context().request.get(new URL(await icon(), place.origin).href)).status(), 200, 'the icon')
      same(await page.evaluate(() => window.told.length), 0, 'silent')
      await page.goto(`${place.origin}/console/`)
      await page.getByText('Open for').waitFor()
      await page.getByLabel('Show a notification').check()
      await page.goto(`${place.origin}/console/activity`)
      place.call(...edit('Garden.md', 'May', 'June'))
      await page.locator('#pending', { hasText: '2' }).waitFor()
      same(await page.evaluate(() => sessionStorage.told), '["2 requests wait for your approval."]', 'told once')
      assert((await page.title()).startsWith('(2) '), await page.title())
      same(await page.locator('#news').innerText(), '2 requests wait for your approval.', 'said once')
    })
  },
  async 'the list is fresh, but not under a pointer or a focus'(place) {
    place.call(...edit('Plan.md', 'leaks', 'holds'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.locator('#approvals a').first().focus()
      place.call(...edit('Garden.md', 'May', 'June'))
      await page.getByRole('button', { name: '1 new: show' }).waitFor()
      same(await page.locator('#approvals .card').count(), 1, 'it does not move')
      await page.getByRole('button', { name: '1 new: show' }).click()
      await page.locator('#approvals .card').nth(1).waitFor()
      // Without a pointer in it, it follows by itself.
      await page.mouse.move(0, 0)
      place.call(...edit('Windows.md', 'two', 'TWO'))
      await page.locator('#approvals .card').nth(2).waitFor()
    })
  },
  async 'two tabs share one connection, and one takes over when the other is closed'(place) {
    await withPage(place, {}, async (page, context) => {
      let streams = 0
      context.on('request', (request) => { if (request.url().endsWith('/console/events')) streams += 1 })
      await signedIn(place, page)
      // A page that does not reload by itself.
      await page.goto(`${place.origin}/console/history`)
      const second = await context.newPage()
      await second.goto(`${place.origin}/console/activity`)
      place.call(...edit('Plan.md', 'leaks', 'holds'))
      await second.locator('#pending', { hasText: '1' }).waitFor()
      const before = streams
      await page.close()
      place.call(...edit('Garden.md', 'May', 'June'))
      await second.locator('#pending', { hasText: '2' }).waitFor()
      assert(streams === before + 1, `${streams} streams, ${before} before`)
    })
  },
}
