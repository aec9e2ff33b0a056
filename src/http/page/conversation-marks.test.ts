import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { conversationMarks } from './conversation-marks.ts'

const marksOf = (body: string | Uint8Array) =>
  conversationMarks(typeof body === 'string' ? new TextEncoder().encode(body) : body)
const idOf = (body: string | Uint8Array) =>
  marksOf(body).then(
    ({ id }) => id,
    (error: unknown) => String(error),
  )

test.each([
  ['{"id":"c1","messages":[]}', 'c1'],
  ['{"a":{"id":"c2"},"id":"c1"}', 'c1'],
  ['{"i\\u0064":"c\\u0031"}', 'c1'],
  ['{"id":"c1","id":"c2"}', 'c2'],
  ['{"id":"c1","id":7}', undefined],
  ['{"a":1}', undefined],
  [`{"id":"${'x'.repeat(2_000)}"}`, undefined],
  ['[]', expect.stringContaining('must be a JSON object')],
  ['{"id":"c1"', expect.stringContaining('not valid JSON in UTF-8')],
  ['{"id":"c1"} x', expect.stringContaining('not valid JSON in UTF-8')],
  [new Uint8Array([...new TextEncoder().encode('{"id":"'), 0xe4, 0x22, 0x7d]), expect.stringContaining('not valid')],
])('the id of %p', async (body, expected) => {
  expect(await idOf(body)).toEqual(expected)
})

test.each([
  ['{"isPinned":true}', true],
  ['{"isPinned":false}', false],
  ['{"isPinned":"true"}', false],
  ['{"isPinned":1e10}', false],
  ['{"a":{"isPinned":true}}', false],
  ['{"isPinned":true,"isPinned":false}', false],
])('whether %p is pinned', async (body, expected) => {
  expect((await marksOf(body)).isPinned).toBe(expected)
})

test('are those of JSON.parse, also over several turns', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom('id', 'isPinned', 'a', 'i'), fc.jsonValue()), async (value) => {
      const text = JSON.stringify({ ...value, long: ['"'.repeat(200_000), value], ...value })
      const { id, isPinned } = JSON.parse(text) as { readonly id?: unknown; readonly isPinned?: unknown }
      expect(await marksOf(text)).toEqual({ id: typeof id === 'string' ? id : undefined, isPinned: isPinned === true })
    }),
    { numRuns: 20 },
  )
})

test('other work goes on while many small values are read', async () => {
  const body = new TextEncoder().encode(
    `{"id":"c1","a":[${'[],'.repeat(1_000_000)}0],${'"b":0,'.repeat(400_000)}"c":0}`,
  )
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  expect(await idOf(body)).toBe('c1')
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})
