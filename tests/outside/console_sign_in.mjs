// Signing in to the console.
import { assert, same, shot, signedIn, withPage } from './console_kit.mjs'

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
      assert(cookie.httpOnly && cookie.sameSite === 'Strict', 'the cookie is for this site alone')
      await context.clearCookies()
      await page.goto('about:blank')
      await page.goto(place.link)
      await page.getByText('That code is not valid').waitFor()
    })
  },
}
