import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import type { PartEntry } from '../../src/http/page/page-api.ts'
import { loadParts } from './parts.ts'

const entry = (more: Partial<PartEntry> = {}): PartEntry => ({
  extension: 'gate',
  modules: { en: '/assets/gate.js' },
  slots: ['SignIn'],
  settings: { word: 'open' },
  ...more,
})
const SignIn = (): null => null
const complaints = spyOn(console, 'error').mockImplementation(() => {})
afterEach(() => complaints.mockClear())

describe('the parts of extensions', () => {
  test("replace the page's defaults, with their settings", async () => {
    const parts = await loadParts([entry()], async () => ({ part: { replace: { SignIn } } }))
    expect(parts).toEqual({
      fillings: { SignIn: { extension: 'gate', component: SignIn, settings: { word: 'open' } } },
      userMenu: [],
      userLinks: [],
      failed: [],
    })
  })

  test('fill no slot that they do not claim', async () => {
    const parts = await loadParts([entry({ slots: [] })], async () => ({ part: { replace: { SignIn } } }))
    expect(parts.fillings).toEqual({})
  })

  test('add their lines to the menu, in the order of extensions', async () => {
    const item = (label: string) => ({ label, run: async () => {} })
    const parts = await loadParts(
      [entry({ modules: { en: '1' }, slots: [] }), entry({ modules: { en: '2' }, slots: [] })],
      async (address) => ({ part: { add: { userMenu: [item(address)] } } }),
    )
    expect(parts.userMenu.map(({ label }) => label)).toEqual(['1', '2'])
  })

  test('add links to their pages, if they have the setting with the path', async () => {
    const userLinks = ['word', 'other'].map((setting) => ({ label: `to ${setting}`, setting }))
    const parts = await loadParts([entry()], async () => ({ part: { replace: { SignIn }, add: { userLinks } } }))
    expect(parts.userLinks).toEqual([{ label: 'to word', path: 'open' }])
  })

  test.each([
    ['does not load', () => Promise.reject(new Error('404'))],
    ['exports nothing', async () => ({})],
    ['exports something else', async () => ({ part: null })],
    ['lacks a slot that it claims', async () => ({ part: { replace: {} } })],
  ])('are listed as failed, and the others load, when one %s', async (_, load) => {
    const parts = await loadParts(
      [entry(), entry({ extension: 'other', modules: { en: 'good' }, slots: [] })],
      (address) => (address === 'good' ? Promise.resolve({ part: {} }) : load()),
    )
    expect(parts.fillings).toEqual({})
    expect(parts.failed).toEqual(['gate'])
  })
})
