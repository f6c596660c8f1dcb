// The console in a real browser: runs the tests of every file `console_*.mjs` here, each with a vault and a console of its own.
//
//     MODULES=node_modules [CHROMIUM=/usr/bin/chromium] node console.mjs BINARY
//
// ONLY=WORD runs the tests whose file or name contains it. SHOTS=FOLDER keeps pictures of the pages, for people to look at.
//
// Such a file exports `tests`, an object of functions by name, and if it wants another vault, `place`: options of `withConsole`.
import { readdirSync } from 'node:fs'
import { closeBrowser, withConsole } from './console_kit.mjs'

const only = process.env.ONLY ?? ''
const files = readdirSync(import.meta.dirname).filter((name) => /^console_(?!kit).*\.mjs$/.test(name)).sort()
let passed = 0
let failed = 0
for (const file of files) {
  const { tests, place = {} } = await import(`./${file}`)
  for (const [name, test] of Object.entries(tests)) {
    if (!`${file} ${name}`.includes(only)) continue
    try {
      await withConsole(place, test)
      passed += 1
    } catch (error) {
      failed += 1
      console.log(`FAILED: ${file}: ${name}\n${error.stack}`)
    }
  }
}
await closeBrowser()
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)
