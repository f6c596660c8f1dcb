// The live log of the console.
import { appendFileSync, readFileSync } from 'node:fs'
import { areFit, assert, NOTES, same, shot, signedIn, started, withPage } from './console_kit.mjs'

const edit = (file, find, replace) => ['str_replace', { file, find, replace }]

export const tests = {
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
  async 'rows wait while a person is in the list, and are counted'(place) {
    place.call('file_read', { file: 'Garden.md' })
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/activity`)
      await page.locator('#calls tbody a').first().focus()
      const rows = await page.locator('#calls tbody tr').count()
      place.call('file_read', { file: 'Plan.md' })
      place.call('file_read', { file: 'Plan.md' })
      await page.getByRole('button', { name: '2 new: show' }).waitFor()
      same(await page.locator('#calls tbody tr').count(), rows, 'nothing moved')
      await page.getByRole('button', { name: '2 new: show' }).click()
      await page.locator('#calls tbody tr', { hasText: 'Plan.md' }).first().waitFor()
      same(await page.locator('#calls tbody tr').count(), rows + 2, 'all are shown')
    })
  },
  async 'a call opens with what the log knows, its diff and its undo'(place) {
    place.change(...edit('Plan.md', 'leaks', 'is new'))
    place.call('file_read', { file: 'Nothing.md' })
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/activity?outcome=refused`)
      await page.locator('#calls tbody a', { hasText: 'file_read' }).first().click()
      await page.getByRole('heading', { name: 'file_read' }).waitFor()
      const text = await page.locator('main').innerText()
      assert(text.includes('sha256:') && text.includes('Nothing.md') && text.includes('Nothing is at the path.'), text)
      await page.goto(`${place.origin}/console/activity?outcome=changed`)
      await page.locator('#calls tbody a', { hasText: 'str_replace' }).first().click()
      await page.locator('.diff del', { hasText: 'new' }).waitFor()
      await shot(page, 'call')
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), NOTES['Plan.md'], 'as before')
      same((await page.goto(`${place.origin}/console/activity/call?time=x`)).status(), 404, 'no such call')
    })
  },
  async 'calls and bytes are shown by client, as bars and as numbers'(place) {
    for (let call = 0; call < 3; call += 1) place.call('file_read', { file: 'Garden.md' })
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/activity`)
      const row = page.locator('.shares tbody tr').first()
      same(await row.locator('.amount').first().innerText(), '3 calls', 'calls')
      same(await row.locator('rect').first().getAttribute('width'), '100', 'the longest bar')
      await row.getByRole('link').click()
      await page.waitForURL(/client=/)
    })
  },
  async 'a page whose server went away says so, and catches up when it is back'(place) {
    const words = (port) => ['console', '--no-browser', '--vault', place.vault, '--port', port]
    const heard = (said) => said.includes('\n') && said.trim()
    const first = await started(words('0'), place.env, heard).catch(() => undefined)
    assert(first, 'a console of its own')
    const { origin, port } = new URL(first.link)
    const own = { ...place, origin, link: first.link, cookies: undefined }
    let again
    try {
      // Failed connections are what this is about, and the browser logs them.
      await withPage(own, { mayLose: true }, async (page) => {
        await signedIn(own, page)
        await page.goto(`${origin}/console/activity`)
        place.call('file_read', { file: 'Garden.md' })
        await page.locator('#calls tbody tr', { hasText: 'Garden.md' }).first().waitFor()
        await page.evaluate(() => { document.body.dataset.same = 'page' })
        await first.stop()
        await page.locator('#news', { hasText: 'does not answer' }).waitFor()
        place.call('file_read', { file: 'Plan.md' })
        again = await started(words(port), place.env, heard)
        // The session is in the state folder, so the same page goes on.
        await page.locator('#calls tbody tr', { hasText: 'Plan.md' }).first().waitFor()
        same(await page.locator('#calls tbody tr', { hasText: 'Garden.md' }).count(), 1, 'told once')
        same(await page.locator('#news').innerText(), '', 'all is well again')
        same(await page.evaluate(() => document.body.dataset.same), 'page', 'without reloading')
        // Far behind, the page is drawn anew.
        await again.stop()
        await page.locator('#news', { hasText: 'does not answer' }).waitFor()
        const log = place.log()
        const line = readFileSync(log, 'utf8').trim().split('\n').at(-1)
        const later = (number) => line.replace(/"ts":"[^"]*"/, `"ts":"${new Date(Date.now() + number).toISOString()}"`)
        appendFileSync(log, Array.from({ length: 600 }, (_, number) => `${later(number)}\n`).join(''))
        again = await started(words(port), place.env, heard)
        await page.locator('body:not([data-same])').waitFor()
        await page.getByRole('heading', { name: 'Activity' }).waitFor()
      })
    } finally {
      await again?.stop()
    }
  },
  async 'the pages are accessible, in both schemes and widths'(place) {
    place.change(...edit('Plan.md', 'leaks', 'is new'))
    place.call('file_read', { file: 'Nothing.md' })
    let call
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/activity?outcome=changed`)
      call = await page.locator('#calls tbody a').first().getAttribute('href')
    })
    await areFit(place, ['/console/activity', call])
  },
}
