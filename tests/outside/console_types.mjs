// The types of the console's scripts, as their comments say, checked by TypeScript.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { assert, modules } from './console_kit.mjs'

const folder = join(import.meta.dirname, '../../crates/console/static')

export const tests = {
  async 'the scripts have no type error'() {
    const scripts = readdirSync(folder).filter((name) => name.endsWith('.js')).map((name) => join(folder, name))
    const options = '--noEmit --allowJs --checkJs --strict --target es2023 --module esnext --moduleDetection force --moduleResolution bundler --lib es2023,dom,dom.iterable'
    const checked = spawnSync(join(modules, '.bin/tsc'), [...options.split(' '), ...scripts], { cwd: folder })
    assert(checked.status === 0, String(checked.stdout) + String(checked.stderr) + String(checked.error ?? ''))
  },
}
