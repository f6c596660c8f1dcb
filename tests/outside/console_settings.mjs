// Settings, clients and rules.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { areFit, assert, same, shot, signedIn, withPage } from './console_kit.mjs'

const text = '# My settings.\n[limits] # all of them\n  deadline_ms = 1000   # short\n\n# the end\n'
const file = (place) => join(place.folder, '.config/lapidary/lapidary.toml')

function written(place) {
  mkdirSync(dirname(file(place)), { recursive: true })
  writeFileSync(file(place), text)
}

async function opened(place, page, path, heading) {
  await signedIn(place, page)
  await page.goto(place.origin + path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}

export const tests = {
  async 'a setting is shown as a diff, then written with comments kept'(place) {
    written(place)
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/settings', 'Settings')
      const row = page.locator('details.setting', { hasText: 'limits.deadline_ms' })
      await row.locator('summary').click()
      await row.getByLabel('Value').fill('2000')
      await row.getByRole('button', { name: 'Show the change' }).click()
      await page.locator('.diff ins', { hasText: '2000' }).waitFor()
      await shot(page, 'settings-change')
      same(readFileSync(file(place), 'utf8'), text, 'nothing is written yet')
      await page.getByRole('button', { name: 'Write it' }).click()
      await page.getByRole('heading', { name: 'Written' }).waitFor()
      same(readFileSync(file(place), 'utf8'), text.replace('1000', '2000'), 'everything else as it was')
      await page.getByText('restart').first().waitFor()
      // What a variable decides is locked, with the reason.
      await page.goto(`${place.origin}/console/settings`)
      const locked = page.locator('details.setting', { hasText: 'LAPIDARY_APPROVAL' }).first()
      await locked.locator('summary').click()
      await locked.getByText('decides it').waitFor()
      same(await locked.locator('form').count(), 0, 'nothing to change')
    })
  },
  async 'a wrong value is refused, and a file that changed is shown again'(place) {
    written(place)
    await withPage(place, {}, async (page, context) => {
      await opened(place, page, '/console/settings', 'Settings')
      const form = { form: await page.locator('[name=form]').first().inputValue(), change: 'set', name: 'limits.deadline_ms', value: 'soon' }
      const send = (more) => context.request.post(`${place.origin}/console/settings`, { form: { ...form, ...more }, headers: { origin: place.origin } })
      same((await send({})).status(), 400, 'not a number')
      same((await send({ form: 'sha256:0', value: '5' })).status(), 403, 'not of this session')
      same((await send({ value: '5', decision: 'write', digest: 'sha256:0' })).status(), 409, 'not what was shown')
      same(readFileSync(file(place), 'utf8'), text, 'nothing was written')
    })
  },
  async 'a token is made, used and revoked'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/clients', 'Clients')
      await page.getByText('New token').click()
      await page.getByLabel('Name of the client').fill('phone')
      await page.locator('#profile-new').selectOption('reader')
      await page.getByRole('button', { name: 'Make the token' }).click()
      const secret = await page.locator('#secret').innerText()
      assert(secret.startsWith('lap_pat_'), 'a token')
      await shot(page, 'token')
      await page.goto(`${place.origin}/console/clients`)
      assert(!(await page.content()).includes(secret), 'shown once')
      await page.locator('article', { hasText: 'phone' }).getByText('live').waitFor()
      await page.getByRole('button', { name: 'Revoke phone' }).click()
      await page.getByText("'phone' is revoked").waitFor()
      await page.locator('article', { hasText: 'phone' }).getByText('revoked').waitFor()
    })
  },
  async 'who may do what is answered with the rule that decides'(place) {
    await withPage(place, {}, async (page) => {
      await opened(place, page, '/console/rules', 'Who may do what')
      await page.getByLabel('With the tool').selectOption('str_replace')
      await page.getByLabel('To the note or folder').fill('Plan.md')
      await page.getByRole('button', { name: 'Ask' }).click()
      await page.locator('#verdict', { hasText: 'asked' }).getByText('Rule 1 decides').waitFor()
      await page.getByLabel('Who').selectOption('profile:reader')
      await page.getByRole('button', { name: 'Ask' }).click()
      await page.locator('#verdict', { hasText: 'denied' }).waitFor()
      await shot(page, 'rules')
    })
  },
  async 'the pages are accessible, in both schemes and widths'(place) {
    written(place)
    await areFit(place, ['/console/settings', '/console/clients', '/console/rules?tool=str_replace&path=Plan.md'])
  },
}
