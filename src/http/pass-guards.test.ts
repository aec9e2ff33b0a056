import { describe, expect, test } from 'bun:test'
import type { Contribution, Visitor } from '../extensions/extension.ts'
import { WireError } from '../formats/error.ts'
import { callerOf } from '../people/caller-of.ts'
import type { Caller, Person } from '../people/person.ts'
import { guardsOf, passGuards } from './pass-guards.ts'

const program: Caller = { name: 'key:indexer' }
const person: Visitor = { user: 'ann' }
const refusal = new WireError(401, 'authentication_error', 'invalid_api_key', 'refused')

async function pass(contributions: readonly Contribution[]) {
  const context = { request: new Request('http://svc.test/'), path: '/', id: 'request-1', address: () => '203.0.113.9' }
  try {
    return await passGuards(guardsOf(contributions), context)
  } catch (error) {
    return error instanceof WireError ? error.code : error
  }
}

describe('guards and recognisers', () => {
  test('without recognisers are the guards', async () => {
    expect(await pass([{ guard: async () => person }, {}])).toEqual(callerOf(person))
    expect(guardsOf([{}])).toEqual([])
  })

  test('a recognised caller skips all guards, in any order of the extensions', async () => {
    const closed: Contribution = { guard: () => Promise.reject(refusal) }
    for (const recognise of [() => program, async () => program]) {
      expect(await pass([closed, { recognise }])).toEqual(program)
      expect(await pass([{ recognise }, closed])).toEqual(program)
    }
  })

  test('a caller that is recognised at once waits for nothing', () => {
    const context = { request: new Request('http://svc.test/'), path: '/', id: 'request-1', address: () => '' }
    const other: Contribution = { recognise: () => undefined, guard: () => Promise.reject(refusal) }
    expect(passGuards(guardsOf([other, { recognise: () => program }]), context)).toBe(program)
    const throwing = guardsOf([
      {
        recognise() {
          throw refusal
        },
      },
    ])
    expect(() => passGuards(throwing, context)).toThrow(refusal)
  })

  test('an unrecognised caller passes by the guards', async () => {
    expect(await pass([{ recognise: () => undefined }, { guard: async () => person }])).toEqual(callerOf(person))
    expect(await pass([{ recognise: async () => undefined }, { guard: async () => undefined }])).toEqual({})
  })

  test('a person has the id of the subject, else of the profile, else of the user id, else the name', async () => {
    const profile = { id: 'profile-1', userName: 'ann', displayName: 'Ann', email: '', avatarUrl: '' }
    const passed = (visitor: Visitor) => pass([{ guard: async () => visitor }])
    const known = { ...person, userId: '7', hasCaselessName: true }
    const facts = { name: 'ann', accountId: '7', isCaseless: true }
    expect(await passed({ ...known, profile, subject: 'other' })).toMatchObject({ person: { id: 'other', ...facts } })
    expect(await passed({ ...known, profile })).toEqual({ name: 'ann', person: { id: 'profile-1', ...facts }, profile })
    expect(await passed(known)).toEqual({ name: 'ann', person: { id: '7', ...facts } })
    expect(await passed(person)).toEqual({ name: 'ann', person: { id: 'ann', name: 'ann' } })
  })

  test('an unrecognised caller is refused where there is no guard', async () => {
    expect(await pass([{ recognise: () => undefined }])).toBe('authentication_required')
  })

  test('a program without a key reads how to send one, and a person the advice of the guard', async () => {
    const advice = 'Sign in.'
    const none = new WireError(401, 'authentication_error', 'authentication_required', 'Who are you?', { advice })
    const closed: Contribution = { guard: () => Promise.reject(none) }
    const context = {
      request: new Request('http://svc.test/'),
      path: '/',
      id: 'request-1',
      address: () => '203.0.113.9',
    }
    const refused = Promise.resolve(passGuards(guardsOf([{ recognise: () => undefined }, closed]), context))
    await expect(refused).rejects.toMatchObject({ status: 401, message: expect.stringContaining('x-api-key'), advice })
    expect(await pass([{ recognise: () => undefined }, { guard: () => Promise.reject(refusal) }])).toBe(
      'invalid_api_key',
    )
  })

  test('without keys, a guard that recognises agents says itself what is missing', async () => {
    const lacks = new WireError(401, 'authentication_error', 'authentication_required', 'Sign in')
    const guard = () => Promise.reject(lacks)
    const recognise = () => undefined
    const context = { request: new Request('http://svc.test/'), path: '/', id: 'request-1', address: () => '' }
    const refusalBy = (contributions: readonly Contribution[]) =>
      Promise.resolve(passGuards(guardsOf(contributions), context))
    await expect(refusalBy([{ recognise, guard }])).rejects.toBe(lacks)
    await expect(refusalBy([{ recognise, guard }, { recognise }])).rejects.toThrow('send a key')
  })

  test('an error of a recogniser refuses at once', async () => {
    let asked = 0
    const guard = async () => {
      asked += 1
      return person
    }
    const recognise = () => {
      throw refusal
    }
    expect([await pass([{ recognise }, { guard }]), asked]).toEqual(['invalid_api_key', 0])
  })

  test('a person whom the guards let pass is told of before the request goes on; a program is not', async () => {
    const told: string[] = []
    const onEntry = async ({ name }: Person) => {
      await Bun.sleep(0)
      told.push(name)
    }
    await pass([{ recognise: () => undefined, onEntry }, { guard: async () => person }])
    await pass([{ recognise: () => program, onEntry }, { guard: async () => person }])
    await pass([{ recognise: () => undefined, onEntry }, { guard: async () => undefined }])
    await pass([{ recognise: () => undefined, onEntry }, { guard: () => Promise.reject(refusal) }])
    expect(told).toEqual(['ann'])
  })

  test('see the address of the client, which is read when asked for', async () => {
    const recognise: Contribution['recognise'] = ({ address }) => ({ name: address })
    expect(await pass([{ recognise }])).toMatchObject({ name: '203.0.113.9' })
  })
})
