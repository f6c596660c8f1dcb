// The live log of the console.
import { areFit, assert, same, shot, signedIn, withPage } from './console_kit.mjs'

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
  async 'the page is accessible, in both schemes and widths'(place) {
    place.call('file_read', { file: 'Garden.md' })
    await areFit(place, ['/console/activity'])
  },
}
