// The live log of the console.
import { areFit, assert, NOTES, same, shot, signedIn, withPage } from './console_kit.mjs'

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
