import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseAllowList } from './restrict-to.ts'

const person = (userName: string, userId = '1') => ({ userId, userName })

describe('restrict_to', () => {
  test.each([
    'alice,bob',
    'alice bob',
    ' alice ,\tbob\n',
    ',,alice,,bob,,',
    '@alice, @bob',
    'ALICE bOb',
    'alice\u00a0bob',
  ])('%j names alice and bob', (text) => {
    const list = parseAllowList([text])
    expect(list.isEmpty).toBeFalse()
    for (const name of ['alice', 'bob', 'Alice', 'BOB']) expect(list.allows(person(name))).toBeTrue()
    for (const name of ['carol', 'alic', 'alicee', '', 'alice,bob', '@alice', 'alice bob'])
      expect(list.allows(person(name))).toBeFalse()
  })

  test.each([' , ', ',', ' ', '@', 'id:', ' @ , id: ', ''])('%j names nobody', (text) => {
    const list = parseAllowList([text])
    expect(list.isEmpty).toBeTrue()
    expect(list.allows(person(''))).toBeFalse()
    expect(list.allows({ userId: '', userName: '' })).toBeFalse()
  })

  test('folds the case of ASCII letters and of no others', () => {
    const list = parseAllowList(['kai, ärger, stra\u00dfe, ali'])
    expect(list.allows(person('KAI'))).toBeTrue()
    expect(list.allows(person('\u212Aai'))).toBeFalse()
    expect(list.allows(person('ÄRGER'))).toBeFalse()
    expect(list.allows(person('strasse'))).toBeFalse()
    expect(list.allows(person('al\u0130'))).toBeFalse()
    expect(list.allows(person('al\u0131'))).toBeFalse()
    expect(parseAllowList(['\u212Aai']).allows(person('kai'))).toBeFalse()
  })

  test('takes no composed name for a decomposed one, and no homoglyph', () => {
    const list = parseAllowList(['jos\u00e9 alice'])
    expect(list.allows(person('jos\u00e9'))).toBeTrue()
    expect(list.allows(person('jose\u0301'))).toBeFalse()
    expect(list.allows(person('\u0430lice'))).toBeFalse()
  })

  test('takes id:… for the user id, exactly, and for nobody of that name', () => {
    const list = parseAllowList(['id:583231 ID:aB'])
    expect(list.allows(person('whoever', '583231'))).toBeTrue()
    expect(list.allows(person('whoever', 'aB'))).toBeTrue()
    expect(list.allows(person('whoever', 'ab'))).toBeFalse()
    expect(list.allows(person('id:583231', '1'))).toBeFalse()
    expect(list.allows(person('583231', '1'))).toBeFalse()
  })

  test('takes @id:5 for a name, since that is how one may be called', () => {
    expect(parseAllowList(['@id:5']).allows(person('id:5', '1'))).toBeTrue()
    expect(parseAllowList(['@id:5']).allows(person('x', '5'))).toBeFalse()
  })

  test('knows no names but those given', () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(parseAllowList(['alice']).allows(person(name))).toBeFalse()
  })

  test('takes several texts together', () => {
    const list = parseAllowList(['alice, bob', 'id:7'])
    expect([person('bob'), person('x', '7'), person('x')].map(list.allows)).toEqual([true, true, false])
  })

  const ascii = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)

  test('lets exactly those pass whom it names', () => {
    fc.assert(
      fc.property(
        fc.array(ascii, { maxLength: 5 }),
        ascii,
        fc.constantFrom(',', ' ', ', ', '\n'),
        (names, name, separator) => {
          const isNamed = names.some((each) => each.toUpperCase() === name.toUpperCase())
          expect(parseAllowList([names.join(separator)]).allows(person(name, 'other'))).toBe(isNamed)
        },
      ),
    )
  })

  test('lets whoever is written into it pass, and is empty only when nobody does', () => {
    const name = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 12 })
      .filter((text) => !/[,\s]|^@|^id:/i.test(text))
    fc.assert(
      fc.property(name, (text) => {
        const list = parseAllowList([text])
        expect(list.isEmpty).toBeFalse()
        expect(list.allows(person(text, 'other'))).toBeTrue()
      }),
    )
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 20 }),
        (text, userName) => {
          const list = parseAllowList([text])
          if (list.isEmpty) expect(list.allows(person(userName, userName))).toBeFalse()
        },
      ),
    )
  })
})
