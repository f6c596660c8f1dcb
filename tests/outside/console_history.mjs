// The history of the console.
import { areFit } from './console_kit.mjs'

export const tests = {
  async 'the page is accessible, in both schemes and widths'(place) {
    await areFit(place, ['/console/history'])
  },
}
