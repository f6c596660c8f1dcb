// The pictures in docs/, drawn anew with PICTURES=docs ONLY=pictures. Without that there is nothing to do here.
import { join } from 'node:path'
import { signedIn, withPage } from './console_kit.mjs'

export const place = {
  notes: {
    'Projects/Roof.md': '---\nstatus: planned\nbudget: 12000\n---\n# Roof\n\nThe north side leaks; see [[Offers]]. Work starts in May.\n\n- [ ] ask [[Mara]] for a second offer\n- [ ] scaffolding\n',
    'Offers.md': '# Offers\n\n- [[Mara]]: 11,400\n',
    'People/Mara.md': '# Mara\n\nRoofer, recommended by Jon.\n',
  },
}

const replace = (file, find, replace) => ['str_replace', { file, find, replace }]
const folder = process.env.PICTURES

const pictures = {
  async 'pictures of the documents'(place) {
    place.change(...replace('Projects/Roof.md', 'Work starts in May.', 'Work starts in June.'))
    place.change(...replace('Projects/Roof.md', '- [ ] scaffolding', '- [x] scaffolding'))
    for (const file of ['Offers.md', 'Projects/Roof.md', 'People/Mara.md']) place.call('file_read', { file })
    place.call('file_read', { file: 'Diary/Private.md' })
    place.call('apply_edits', {
      file: 'Projects/Roof.md',
      edits: [
        { find: 'status: planned', replace: 'status: agreed' },
        { find: 'The north side leaks; see [[Offers]].', replace: 'The north side leaks; [[Mara]] repairs it, see [[Offers]].' },
      ],
    })
    await withPage(place, { viewport: { width: 1000, height: 640 } }, async (page) => {
      await signedIn(place, page)
      const picture = async (name, height) => {
        await page.setViewportSize({ width: 1000, height })
        await page.screenshot({ path: join(folder, `${name}.png`) })
      }
      await page.locator('#approvals a').first().click()
      await page.locator('.diff').first().waitFor()
      await picture('console-approval', 760)
      await page.goto(`${place.origin}/console/activity`)
      await picture('console-activity', 640)
      await page.goto(`${place.origin}/console/versions?path=Projects%2FRoof.md&at=1`)
      await picture('console-versions', 720)
    })
  },
}

export const tests = folder ? pictures : {}
