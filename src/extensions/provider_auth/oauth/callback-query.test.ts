import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseCallbackQuery } from './callback-query.ts'

const parsed = (query: string) => parseCallbackQuery(`https://svc.test/auth/provider/callback${query}`)
const state = 'S'.repeat(43)

describe('the query of a callback', () => {
  test.each([
    [`?code=c&state=${state}`, { state, code: 'c' }],
    [`?state=${state}&code=c&iss=https%3A%2F%2Fid.test%2Fa`, { state, code: 'c', iss: 'https://id.test/a' }],
    [`?error=access_denied&state=${state}`, { state, error: 'access_denied' }],
    [
      `?error=%3Cscript%3E&error_description=x&error_uri=x&error_description=y&state=${state}`,
      { state, error: '<script>' },
    ],
    [`?state=${state}`, { state }],
    [`?state=${state}&code=`, { state }],
    [
      `?state=${state}&code=c&session_state=a&session_state=b&scope=x+y&code[]=z&state[]=z&%00=1&__proto__=x`,
      { state, code: 'c' },
    ],
    [`?%73tate=${state}&c%6Fde=4%2F0Ab%20-_.~`, { state, code: '4/0Ab -_.~' }],
    [`?state=${'s'.repeat(128)}&code=${'c'.repeat(2048)}`, { state: 's'.repeat(128), code: 'c'.repeat(2048) }],
  ])('%s is parsed', (query, expected) => {
    expect(parsed(query)).toEqual(expected)
  })

  test.each([
    ['nothing', ''],
    ['an empty query', '?'],
    ['no state', '?code=c'],
    ['an empty state', '?state=&code=c'],
    ['two states', `?state=${state}&state=${state}&code=c`],
    ['a state encoded otherwise', `?state=${state}&s%74ate=${state}`],
    ['two codes', `?state=${state}&code=c&code=c`],
    ['an empty second code', `?state=${state}&code=c&code=`],
    ['two issuers', `?state=${state}&code=c&iss=a&iss=b`],
    ['two errors', `?state=${state}&error=a&error=b`],
    ['an array', `?state[]=${state}&code=c`],
    ['an encoded array', `?state%5B%5D=${state}&code=c`],
    ['another case', `?State=${state}&code=c`],
    ['a state too long', `?state=${'s'.repeat(129)}&code=c`],
    ['a code too long', `?state=${state}&code=${'c'.repeat(2049)}`],
    ['a query too long', `?state=${state}&code=c&x=${'x'.repeat(8_192)}`],
    ['a state encoded twice', `?state=${encodeURIComponent('%41'.repeat(10))}`],
    ['a state with a blank', `?state=${state}+`],
    ['a state with a line end', `?state=${state}%0A`],
    ['a state of other letters', '?state=%C3%A9'],
    ['half a character', `?state=${state}&code=%C3`],
    ['a code with a line break', `?state=${state}&code=c%0D%0Ax`],
    ['a code with a null', `?state=${state}&code=c%00`],
    ['a state that looks like a key', '?state=__proto__.x'],
    ['an outdated separator', `?state=${state};code=c`],
    ['a fragment before it', `#x?state=${state}&code=c`],
    ['a fragment after it', `?state=${state}&code=c#x`],
    ['a fragment alone', '#'],
  ])('with %s is malformed', (_, query) => {
    expect(parsed(query)).toBeUndefined()
  })

  test('is parsed or rejected without an exception, and yields only well-formed states and codes', () => {
    const piece = fc.oneof(
      fc.constantFrom('state', 'code', 'iss', 'error', '=', '&', '%', '[]', state, '+', ';'),
      fc.string({ maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const parameters = parsed(`?${pieces.join('')}`)
        if (parameters === undefined) return
        expect(parameters.state).toMatch(/^[A-Za-z0-9_-]+$/)
        expect(parameters.code ?? 'c').toMatch(/^[ -~]+$/)
      }),
    )
  })
})
