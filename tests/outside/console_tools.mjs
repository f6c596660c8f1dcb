// Tools tried by hand, and notes found by words and queries.
import { HOSTILE, NOTES, areFit, assert, same, shot, signedIn, withPage } from './console_kit.mjs'

export const place = {
  env: { LAPIDARY_APPROVAL: 'write=allow' },
  notes: {
    ...NOTES,
    'Books/Dune.md': '---\nrating: 9\n---\n# Dune\n\nThe spice must flow. #book\n',
    'Books/Emma.md': `---\nrating: 10\n---\n# Emma\n\nA match ${HOSTILE} is made. #book\n`,
    'Books.base': 'filters: file.hasTag("book")\nviews:\n  - type: table\n    name: All\n    order: [file.name, rating]\n',
  },
}

const plan = NOTES['Plan.md']

async function opened(place, page, path, heading) {
  await signedIn(place, page)
  await page.goto(place.origin + path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}

export const tests = {
  async 'a change by hand changes the bytes, and is taken back'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/try', 'Try it')
      await page.getByLabel('Tool', { exact: true }).fill('replace exact')
      await page.getByRole('button', { name: 'Filter' }).click()
      await page.getByRole('link', { name: 'str_replace' }).click()
      await page.getByLabel('file required').fill('Plan.md')
      await page.getByLabel('find required').fill('leaks')
      await page.getByLabel('replace required').fill('is\nnew')
      await page.getByRole('button', { name: 'Dry run' }).click()
      await page.getByRole('heading', { name: 'Answer' }).waitFor()
      same(place.read('Plan.md'), plan, 'a dry run changes nothing')
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByRole('heading', { name: 'Changed' }).waitFor()
      same(place.read('Plan.md'), plan.replace('leaks', 'is\nnew'), 'as it was typed')
      assert((await page.locator('#command').innerText()).includes("lapidary call str_replace '{"), 'to copy')
      await page.getByText('tokens (bytes / 4)').waitFor()
      await shot(page, 'tried')
      await page.getByRole('link', { name: 'See the change' }).click()
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), plan, 'taken back')
    })
  },
  async 'in the place of a client, changes are shown and not made'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/try/str_replace', 'Replace text in a file')
      await page.getByLabel('file required').fill('Plan.md')
      await page.getByLabel('find required').fill('leaks')
      await page.getByLabel('Call it as').selectOption('profile:editor')
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByRole('heading', { name: 'It would change this' }).waitFor()
      await page.locator('.diff .removed', { hasText: 'leaks' }).waitFor()
      same(place.read('Plan.md'), plan, 'nothing changed')
      await page.getByLabel('Call it as').selectOption('profile:reader')
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.getByRole('heading', { name: 'Refused' }).waitFor()
    })
  },
  async 'an example fills the form in, which is JSON at a press, and hostile text stays text'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/try/file_read', /./)
      await page.getByText('Examples').click()
      await page.locator('details a').first().click()
      assert((await page.getByLabel('file required').inputValue()).length > 0, 'filled in')
      await page.getByRole('button', { name: 'As JSON' }).click()
      await page.getByLabel('Arguments as JSON').fill(JSON.stringify({ file: 'Books/Emma.md' }))
      await page.getByRole('button', { name: 'Call', exact: true }).click()
      await page.locator('.reply', { hasText: HOSTILE }).first().waitFor()
      same(await page.locator('main img').count(), 0, 'no picture')
    })
  },
  async 'notes are found while they are typed, with the words marked'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/search', 'Search')
      await page.getByLabel('Words').pressSequentially('spice')
      await page.locator('#hits mark', { hasText: 'spice' }).waitFor()
      same(await page.locator('#hits li').count(), 1, 'one note')
      const address = await page.locator('#hits a').getAttribute('href')
      same(address, 'obsidian://open?vault=Notes&file=Books%2FDune.md', 'opens in Obsidian')
      assert(page.url().includes('q=spice'), 'the address is that of the search')
      await page.getByLabel('Words').fill('match')
      await page.locator('#hits li', { hasText: HOSTILE }).waitFor()
      same(await page.locator('main img').count(), 0, 'no picture')
    })
    // And without a script.
    await withPage(place, { javaScriptEnabled: false }, async (page) => {
      await page.context().addCookies(place.cookies)
      await page.goto(`${place.origin}/console/search`)
      await page.getByLabel('Words').fill('spice')
      await page.getByRole('button', { name: 'Search' }).click()
      await page.locator('#hits mark', { hasText: 'spice' }).waitFor()
    })
  },
  async 'rows are sorted and exported, and a mistake is marked at its place'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/queries', 'Queries')
      await page.getByLabel('Query', { exact: true }).fill('TABLE rating FROM #book')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByRole('link', { name: 'rating' }).click()
      await page.getByRole('link', { name: 'rating' }).click()
      const cells = await page.locator('.answer tbody td:first-child').allInnerTexts()
      same(cells.join(), 'Emma,Dune', 'descending')
      await shot(page, 'query')
      const address = await page.getByRole('link', { name: 'Export as CSV' }).getAttribute('href')
      const csv = await (await page.context().request.get(place.origin + address)).text()
      same(csv, 'File,rating\r\nEmma,10\r\nDune,9\r\n', 'as it is shown')
      await page.getByLabel('Query', { exact: true }).fill('TABLE rating\nFROM #book WHERE )')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.locator('.place mark', { hasText: ')' }).waitFor()
      await shot(page, 'query-problem')
    })
  },
  async 'a tool is called with the keyboard alone, on a phone, in the dark'(place) {
    await withPage(place, { viewport: { width: 360, height: 740 }, colorScheme: 'dark' }, async (page) => {
      await signedIn(place, page)
      await page.waitForLoadState('load')
      await page.keyboard.press('g')
      await page.keyboard.press('t')
      await page.getByRole('heading', { level: 1, name: 'Try it' }).waitFor()
      // Keys work once the scripts have run.
      await page.waitForLoadState('load')
      await page.keyboard.press('/')
      await page.keyboard.type('outline')
      await page.keyboard.press('Enter')
      await page.waitForURL(/q=outline/)
      await page.keyboard.press('j')
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Call', exact: true }).waitFor()
      const file = page.locator('.argument input').first()
      for (let step = 0; step < 60 && !(await file.evaluate((field) => field === document.activeElement)); step += 1) await page.keyboard.press('Tab')
      await page.keyboard.type('Plan.md')
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Answer' }).waitFor()
    })
  },
  async 'the pages are accessible, in both schemes and widths'(place) {
    const query = '/console/queries?query=TABLE%20rating%20FROM%20%23book'
    await areFit(place, [
      '/console/try', '/console/try/obsidian_patch_note', '/console/try/file_read?example=0', '/console/search?q=spice', query,
      '/console/queries?query=TABLE%20)',
    ])
  },
}
