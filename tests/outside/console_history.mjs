// The history of the console: versions of a note, and taking back one change, one file or everything since.
import { areFit, assert, NOTES, same, shot, signedIn, withPage } from './console_kit.mjs'

const edit = (file, find, replace) => ['str_replace', { file, find, replace }]
const PLAN = NOTES['Plan.md']

export const tests = {
  async "a note's versions are on a slider, with text and diff, and one comes back"(place) {
    place.change(...edit('Plan.md', 'leaks', 'is wet'))
    place.change(...edit('Plan.md', 'is wet', 'is dry'))
    place.change(...edit('Plan.md', 'is dry', 'is new'))
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/history`)
      await page.locator('.paths a', { hasText: 'Plan.md' }).first().click()
      await page.locator('.version-text', { hasText: 'is new' }).waitFor()
      await page.locator('.diff ins', { hasText: 'new' }).waitFor()
      // The script is there when its button is gone.
      await page.getByRole('button', { name: 'Show' }).waitFor({ state: 'detached' })
      await page.getByLabel('Version').focus()
      await page.keyboard.press('ArrowLeft')
      await page.locator('.version-text', { hasText: 'is dry' }).waitFor()
      await page.locator('.diff del', { hasText: 'wet' }).waitFor()
      await shot(page, 'versions')
      await page.getByRole('link', { name: 'Compared with now' }).click()
      await page.locator('.diff ins', { hasText: 'new' }).waitFor()
      await page.getByText('All 4 versions').click()
      await page.getByRole('link', { name: 'Before the first change' }).click()
      await page.locator('.version-text', { hasText: 'leaks' }).waitFor()
      await page.getByRole('link', { name: 'Bring this version back' }).click()
      await page.locator('.diff ins', { hasText: 'leaks' }).waitFor()
      same(place.read('Plan.md'), PLAN.replace('leaks', 'is new'), 'shown, not made')
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), PLAN, 'the first version')
    })
  },
  async 'one file of a change is taken back alone'(place) {
    place.change('tag_rename', { from: 'home', to: 'house' })
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/history`)
      await page.locator('.card h2 a').first().click()
      await page.getByRole('link', { name: 'Only Garden.md' }).click()
      await page.locator('section.file').first().waitFor()
      same(await page.locator('section.file').count(), 1, 'one file')
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
    })
    same(place.read('Garden.md'), NOTES['Garden.md'], 'as before')
    assert(place.read('Plan.md').includes('#house'), 'the others stay')
  },
  async 'everything since a moment is taken back as one change, and that too'(place) {
    place.change(...edit('Plan.md', 'leaks', 'is wet'))
    place.change(...edit('Garden.md', 'May', 'June'))
    place.change('file_create', { file: 'New.md', content: 'new' })
    place.change(...edit('Plan.md', 'is wet', 'is dry'))
    const last = { plan: place.read('Plan.md'), garden: place.read('Garden.md') }
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/history`)
      // The oldest of the four.
      await page.locator('.card h2 a').nth(3).click()
      await page.getByRole('link', { name: 'This and every later change' }).click()
      await page.locator('section.file', { hasText: 'New.md' }).waitFor()
      await shot(page, 'restore-since')
      same(place.read('Plan.md'), last.plan, 'shown, not made')
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), PLAN, 'Plan')
      same(place.read('Garden.md'), NOTES['Garden.md'], 'Garden')
      assert(!place.exists('New.md'), 'what was created is gone')
      await page.getByRole('link', { name: 'See the change' }).click()
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), last.plan, 'Plan again')
      same(place.read('Garden.md'), last.garden, 'Garden again')
      same(place.read('New.md'), 'new', 'New again')
    })
  },
  async 'without a script everything can be read, approved and taken back'(place) {
    place.change(...edit('Plan.md', 'leaks', 'is wet'))
    place.call(...edit('Garden.md', 'May', 'June'))
    await withPage(place, {}, async (page) => signedIn(place, page))
    await withPage(place, { javaScriptEnabled: false }, async (page) => {
      await page.context().addCookies(place.cookies)
      await page.goto(`${place.origin}/console/`)
      await page.locator('#approvals a').first().click()
      await page.getByRole('button', { name: 'Approve what is shown' }).click()
      await page.getByRole('heading', { name: 'Approved' }).waitFor()
      same(place.read('Garden.md'), NOTES['Garden.md'].replace('May', 'June'), 'approved')
      await page.goto(`${place.origin}/console/versions?path=Plan.md&at=0`)
      await page.locator('.version-text', { hasText: 'leaks' }).waitFor()
      await page.getByRole('link', { name: 'Bring this version back' }).click()
      await page.getByRole('button', { name: 'Take it back' }).click()
      await page.getByRole('heading', { name: 'Taken back' }).waitFor()
      same(place.read('Plan.md'), PLAN, 'taken back')
    })
  },
  async 'the pages are accessible, in both schemes and widths'(place) {
    place.change(...edit('Plan.md', 'leaks', 'is wet'))
    place.change('tag_rename', { from: 'home', to: 'house' })
    let change
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.goto(`${place.origin}/console/history`)
      change = await page.locator('.card h2 a').first().getAttribute('href')
    })
    await areFit(place, ['/console/history', change, '/console/versions?path=Plan.md', '/console/versions?path=None.md'])
  },
}
