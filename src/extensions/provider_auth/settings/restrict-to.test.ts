import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { changeAllowList, parseAllowList } from './restrict-to.ts'

/** Ignores case. */
const caseless = (text: string) => parseAllowList(text, true)
/** Compares exactly. */
const exact = (text: string) => parseAllowList(text, false)

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
    const list = caseless(text)
    expect(list.isEmpty).toBeFalse()
    for (const name of ['alice', 'bob', 'Alice', 'BOB']) expect(list.allows(person(name))).toBeTrue()
    for (const name of ['carol', 'alic', 'alicee', '', 'alice,bob', '@alice', 'alice bob'])
      expect(list.allows(person(name))).toBeFalse()
  })

  test.each([' , ', ',', ' ', '@', 'id:', ' @ , id: ', ''])('%j is empty', (text) => {
    const list = caseless(text)
    expect(list.isEmpty).toBeTrue()
    expect(list.allows(person(''))).toBeFalse()
    expect(list.allows({ userId: '', userName: '' })).toBeFalse()
  })

  test('ignores the case of ASCII letters only', () => {
    const list = caseless('kai, ärger, stra\u00dfe, ali')
    expect(list.allows(person('KAI'))).toBeTrue()
    expect(list.allows(person('\u212Aai'))).toBeFalse()
    expect(list.allows(person('ÄRGER'))).toBeFalse()
    expect(list.allows(person('strasse'))).toBeFalse()
    expect(list.allows(person('al\u0130'))).toBeFalse()
    expect(list.allows(person('al\u0131'))).toBeFalse()
    expect(caseless('\u212Aai').allows(person('kai'))).toBeFalse()
  })

  test('as a list holds its entries as they are, with blanks and commas', () => {
    const list = parseAllowList(['Ada Lovelace', 'Hopper, Grace', '@turing', ' ', ''], false)
    expect(list.isEmpty).toBeFalse()
    for (const name of ['Ada Lovelace', 'Hopper, Grace', 'turing']) expect(list.allows(person(name))).toBeTrue()
    for (const name of ['Ada', 'Lovelace', 'Grace', 'Hopper', 'Hopper,', '', ' '])
      expect(list.allows(person(name))).toBeFalse()
  })

  test.each([[[]], [['']], [[' ', '\t']], [['@', 'id:', 'id: ']]])('as the list %j allows no user', (list) => {
    expect(parseAllowList(list, false)).toMatchObject({ isEmpty: true })
    expect(parseAllowList(list, false).allows({ userId: '', userName: '' })).toBeFalse()
  })

  test('compares names exactly where the provider does', () => {
    const list = exact('OctoCat, id:7')
    expect([person('OctoCat'), person('OCTOCAT'), person('octocat'), person('x', '7')].map(list.allows)).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  test('distinguishes composed and decomposed names, and homoglyphs', () => {
    const list = caseless('jos\u00e9 alice')
    expect(list.allows(person('jos\u00e9'))).toBeTrue()
    expect(list.allows(person('jose\u0301'))).toBeFalse()
    expect(list.allows(person('\u0430lice'))).toBeFalse()
  })

  test('compares id:… with the user id, exactly, and not with names', () => {
    const list = exact('id:583231 ID:aB')
    expect(list.allows(person('any-name', '583231'))).toBeTrue()
    expect(list.allows(person('any-name', 'aB'))).toBeTrue()
    expect(list.allows(person('any-name', 'ab'))).toBeFalse()
    expect(list.allows(person('id:583231', '1'))).toBeFalse()
    expect(list.allows(person('583231', '1'))).toBeFalse()
  })

  test('reads @id:5 as a name', () => {
    expect(exact('@id:5').allows(person('id:5', '1'))).toBeTrue()
    expect(exact('@id:5').allows(person('x', '5'))).toBeFalse()
  })

  test('contains no names of object prototypes', () => {
    for (const name of ['constructor', '__proto__', 'toString'])
      expect(caseless('alice').allows(person(name))).toBeFalse()
  })

  const ascii = fc.stringMatching(/^[A-Za-z0-9._-]{1,12}$/)

  test('allows exactly the listed users', () => {
    fc.assert(
      fc.property(
        fc.array(ascii, { maxLength: 5 }),
        ascii,
        fc.constantFrom(',', ' ', ', ', '\n'),
        (names, name, separator) => {
          const isNamed = names.some((each) => each.toUpperCase() === name.toUpperCase())
          expect(caseless(names.join(separator)).allows(person(name, 'other'))).toBe(isNamed)
        },
      ),
    )
  })

  test('allows every listed user, and is empty only without entries', () => {
    const name = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 12 })
      .filter((text) => !/[,\s]|^@|^id:/i.test(text))
    fc.assert(
      fc.property(name, (text) => {
        const list = caseless(text)
        expect(list.isEmpty).toBeFalse()
        expect(list.allows(person(text, 'other'))).toBeTrue()
      }),
    )
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.string({ unit: 'binary', maxLength: 20 }),
        (text, userName) => {
          const list = caseless(text)
          if (list.isEmpty) expect(list.allows(person(userName, userName))).toBeFalse()
        },
      ),
    )
  })
})

describe('a change of restrict_to', () => {
  const eve = { userName: 'eve', userId: '9' }
  test.each<[unknown, boolean, string | readonly string[] | undefined]>([
    ['ada', true, 'ada, eve'],
    [['ada'], true, ['ada', 'eve']],
    [[], true, ['eve']],
    ['ada @EVE id:9, evelyn', false, 'ada, evelyn'],
    [['ada', 'id:9', '@eve', 'eve ada'], false, ['ada', 'eve ada']],
    // An empty text would let in everyone, and a variable is not in the file.
    ['eve', false, []],
    ['', true, undefined],
    ['$USERS', true, undefined],
    [undefined, true, undefined],
  ])('%p with or without eve (%p) is %p', (value, isAllowed, after) => {
    expect(changeAllowList(value, eve, { isAllowed, isCaseless: true })).toEqual(after)
  })

  test.each(['eve ada', 'eve,ada', '$eve', '@eve', 'ID:1'])('names %p by the id', (userName) => {
    const change = { isAllowed: true, isCaseless: true }
    expect(changeAllowList('ada', { userName, userId: '9' }, change)).toBe('ada, id:9')
    expect(changeAllowList('ada', { userName, userId: '9 9' }, change)).toBeUndefined()
  })
})
