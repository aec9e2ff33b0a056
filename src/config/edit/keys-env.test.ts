import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseKeysEnv } from '../file/key-texts.ts'
import { variableFor, withKey, type VariableChoice } from './keys-env.ts'

describe('withKey', () => {
  test.each([
    ['A=1\n# mine\nexport B = 2\n', 'B', 'A=1\n# mine\nB=new\n'],
    ['A=1', 'B', 'A=1\nB=new\n'],
    ['AB=1\n', 'B', 'AB=1\nB=new\n'],
  ])('%j', (text, variable, edited) => {
    expect(withKey(text, { variable, key: 'new' })).toBe(edited)
  })

  test('any key is read as it was written, and the other lines stay', () => {
    const key = fc.stringMatching(/^[!-#%-~][!-~]{0,40}$/)
    fc.assert(
      fc.property(key, key, (first, second) => {
        const both = withKey(withKey(undefined, { variable: 'A', key: first }), { variable: 'B', key: second })
        expect([...parseKeysEnv(both, 'keys.env')]).toEqual([['A', first], ['B', second]]) // prettier-ignore
      }),
    )
  })
})

describe('variableFor', () => {
  const choice: VariableChoice = {
    ...{ id: 'my-lab', asked: undefined, usual: ['GROQ_API_KEY'] },
    isFixed: () => false,
    isOfOther: () => false,
  }
  test.each<[string, Partial<VariableChoice>, string]>([
    ['the usual one', {}, 'GROQ_API_KEY'],
    ['the one that was asked for', { asked: 'SVC_KEY_X' }, 'SVC_KEY_X'],
    [
      'one of its own, if another provider has the usual one',
      { isOfOther: (name) => name === 'GROQ_API_KEY' },
      'SVC_KEY_MY_LAB',
    ],
    [
      'one with a number, if the process has that too',
      { isFixed: (name) => name !== 'SVC_KEY_MY_LAB_2' },
      'SVC_KEY_MY_LAB_2',
    ],
  ])('%s', (_, more, variable) => {
    expect(variableFor({ ...choice, ...more })).toBe(variable)
  })

  test('not one that the process has', () => {
    expect(() => variableFor({ ...choice, asked: 'A', isFixed: () => true })).toThrow('comes before keys.env')
  })
})
