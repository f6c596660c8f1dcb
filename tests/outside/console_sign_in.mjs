// Signing in to the console.
import { areFit, assert, HOSTILE, ran, same, shot, signedIn, started, withPage } from './console_kit.mjs'

export const tests = {
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
      assert(cookie.httpOnly && cookie.sameSite === 'Lax', 'the cookie is for this site alone')
      await context.clearCookies()
      await page.goto('about:blank')
      await page.goto(place.link)
      await page.getByText('That code is not valid').waitFor()
    })
  },
  async 'a browser signs out alone, or all of them at once'(place) {
    await withPage(place, {}, async (page) => {
      await signedIn(place, page)
      await page.getByText('Signed in').click()
      await page.getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
      same((await page.goto(`${place.origin}/console/activity`)).status(), 401, 'signed out')
      await page.context().addCookies(place.cookies)
      same((await page.goto(`${place.origin}/console/activity`)).status(), 401, 'an old cookie does not count')
    })
  },
  async 'the HTTP server has the console too, for its owner alone'(place) {
    await withServer(place, [], {}, async (server) => {
      await withPage(server, {}, async (page, context) => {
        same((await page.goto(`${server.origin}/console/`)).status(), 401, 'a stranger')
        same(await page.getByLabel('Passphrase').count(), 1, 'there is a passphrase')
        await shot(page, 'sign-in-passphrase')
        await page.getByLabel('Passphrase').fill('not the passphrase')
        await page.getByRole('button', { name: 'Sign in with the passphrase' }).click()
        await page.getByText('That is not the passphrase').waitFor()
        await page.getByLabel('Passphrase').fill(PASSPHRASE)
        await page.getByRole('button', { name: 'Sign in with the passphrase' }).click()
        await page.getByRole('heading', { name: 'Approvals' }).waitFor()
        // The first session, and one of a link that `lapidary console` makes there.
        const link = ran(['console', '--no-browser', '--vault', place.vault], place.env)
        assert(link.out.startsWith(`${server.origin}/console/#`), link.out + link.said)
        await withPage(server, {}, async (second) => {
          await second.goto(link.out.trim())
          await second.getByRole('heading', { name: 'Approvals' }).waitFor()
          await page.getByText('Signed in').click()
          await page.getByRole('button', { name: 'Sign out everywhere' }).click()
          await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor()
          same((await second.goto(`${server.origin}/console/`)).status(), 401, 'both are signed out')
        })
        const headers = { origin: 'https://example.com' }
        const form = { passphrase: PASSPHRASE }
        same((await context.request.post(`${server.origin}/console/sign-in`, { form, headers })).status(), 403, 'another site')
      })
    })
  },
  async 'no token of a client opens the console'(place) {
    const token = ran(['token', 'create', 'phone', '--profile', 'full'], place.env).out.match(/lap_pat_\S+/)?.[0]
      ?? ran(['token', 'create', 'phone2'], place.env).out.match(/lap_pat_\S+/)?.[0]
    assert(token, 'a token')
    await withServer(place, [], {}, async (server) => {
      for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: `lapidary-owner=${token}` }, { cookie: `__Host-lapidary=${token}` }]) {
        same((await fetch(`${server.origin}/console/activity`, { headers })).status, 401, JSON.stringify(headers))
      }
      const body = new URLSearchParams({ code: token })
      same((await fetch(`${server.origin}/console/sign-in`, { method: 'POST', body })).status, 403, 'nor as a code')
      // But it is a token.
      const mcp = await fetch(`${server.origin}/mcp`, { headers: { authorization: `Bearer ${token}` } })
      assert(mcp.status !== 401, `the token counts at the endpoint: ${mcp.status}`)
    })
  },
  async 'the owner sees the sessions of clients, and ends one'(place) {
    await withServer(place, [], {}, async (server) => {
      const ask = (method, headers, body) => fetch(`${server.origin}/mcp`, { method, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }, body: body && JSON.stringify(body) })
      const open = async (name) => {
        const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name, version: '1' } }
        return (await ask('POST', {}, { jsonrpc: '2.0', id: 1, method: 'initialize', params })).headers.get('mcp-session-id')
      }
      const lists = async (session) => (await ask('POST', { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }, { jsonrpc: '2.0', id: 2, method: 'tools/list' })).status
      const [kept, ended] = [await open('Kept'), await open(`${HOSTILE}\u202e`)]
      const own = { ...place, origin: server.origin, link: ran(['console', '--no-browser', '--vault', place.vault], place.env).out.trim(), cookies: undefined }
      await withPage(own, {}, async (page) => {
        await signedIn(own, page)
        await page.goto(`${own.origin}/console/clients`)
        same(await page.locator('#url').innerText(), `${own.origin}/mcp`, 'the address that is served')
        const rows = page.getByRole('region', { name: 'Open sessions' }).locator('tbody tr')
        same(await rows.count(), 2, 'both')
        const html = await page.content()
        assert(!html.includes(kept) && !html.includes(ended), 'an id is a key, and is not shown')
        await rows.filter({ hasText: '<img' }).getByRole('button', { name: /^End/ }).click()
        await page.getByRole('status').filter({ hasText: 'The session has ended.' }).waitFor()
        same(await rows.count(), 1, 'the other one')
        same(await lists(ended), 404, 'ended')
        same(await lists(kept), 200, 'kept')
        const cookie = own.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
        const post = (form) => fetch(`${own.origin}/console/clients`, { method: 'POST', headers: { cookie, origin: own.origin }, body: new URLSearchParams(form) })
        const form = await page.locator('input[name=form]').first().getAttribute('value')
        for (const name of [kept, 'sha256:', `sha256:${'0'.repeat(64)}`, '']) {
          same((await post({ form, do: 'end-session', name })).status, 400, `no session is called ${name}`)
        }
        same((await post({ form: 'x', do: 'end-session', name: kept })).status, 403, 'a form of another page')
        same(await lists(kept), 200, 'still kept')
      })
      await areFit(own, ['/console/clients', '/console/nothing-here'])
    })
  },
  async 'guesses are limited, and a signed-in browser is not affected'(place) {
    await withServer(place, [], {}, async (server) => {
      const post = (passphrase) => fetch(`${server.origin}/console/sign-in`, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ passphrase }) })
      const cookie = (await post(PASSPHRASE)).headers.get('set-cookie').split(';')[0]
      for (let guess = 0; guess < 5; guess += 1) same((await post(`guess ${guess}`)).status, 403, 'wrong')
      const refused = await post(PASSPHRASE)
      same(refused.status, 429, 'even the right one')
      assert(Number(refused.headers.get('retry-after')) > 60, 'says how long')
      same((await fetch(`${server.origin}/console/`, { headers: { cookie } })).status, 200, 'signed in already')
    })
  },
  async 'behind a proxy with TLS the cookie is bound to it, and the origin is that of the owner'(place) {
    const site = 'https://vault.example'
    await withServer(place, ['--public-url', site], {}, async (server) => {
      const at = (path, options = {}) => fetch(`${server.origin}${path}`, { redirect: 'manual', ...options, headers: { 'x-forwarded-host': 'vault.example', ...options.headers } })
      const sign = (origin) => at('/console/sign-in', { method: 'POST', headers: { origin }, body: new URLSearchParams({ passphrase: PASSPHRASE }) })
      const answer = await sign(site)
      same(answer.status, 303, 'signed in')
      const cookie = answer.headers.get('set-cookie')
      assert(/^__Host-lapidary=lap_os_\S+; HttpOnly; SameSite=Lax; Path=\/; Secure$/.test(cookie), cookie)
      same((await at('/console/', { headers: { cookie: cookie.split(';')[0] } })).status, 200, 'the session')
      for (const foreign of ['https://vault.example.evil', 'http://vault.example', 'null', 'https://example.com']) {
        same((await sign(foreign)).status, 403, foreign)
      }
      assert((await at('/console/')).headers.get('strict-transport-security'), 'TLS from now on')
      const link = ran(['console', '--no-browser', '--vault', place.vault], place.env).out
      assert(link.startsWith(`${site}/console/#lap_oc_`), link)
    })
  },
}

const PASSPHRASE = 'correct horse battery staple'

// The HTTP server on the vault of the console, with a passphrase.
async function withServer(place, words, env, run) {
  const set = ran(['owner', 'set-passphrase'], place.env, `${PASSPHRASE}\n`)
  assert(set.status === 0, set.said)
  const heard = (said) => said.match(/serving MCP at (http:\/\/[^/\s]+)\//)?.[1]
  const server = await started(['serve', '--http', '127.0.0.1:0', '--vault', place.vault, ...words], { ...place.env, ...env, MCP_LOG_LEVEL: 'info' }, heard)
  try {
    await run({ origin: server.link })
  } finally {
    await server.stop()
  }
}
