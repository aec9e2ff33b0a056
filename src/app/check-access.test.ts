import { expect, test } from 'bun:test'
import { parseAccess } from '../config/file/parse-access.ts'
import type { Contribution } from '../extensions/extension.ts'
import { checkAccess } from './check-access.ts'

const keys = parseAccess(JSON.stringify({ keys: [{ name: 'ci', hash: '0f'.repeat(32) }] }), 'access.json')
const check = (contributions?: readonly Contribution[]) => () =>
  checkAccess(keys, { providers: [], file: 'access.json', ...(contributions === undefined ? {} : { contributions }) })

test('keys in access.json need --auth keys, as far as it is known what runs', () => {
  expect(check([])).toThrow('access.json: keys: found 1 of them, allowed: keys only with --auth keys')
  expect(check([{ recognise: () => undefined }])).not.toThrow()
  expect(check()).not.toThrow()
})
