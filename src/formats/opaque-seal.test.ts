import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AnswerEvent } from './answer.ts'
import type { AssistantPart, Conversation, Opaque, Sealed } from './conversation.ts'
import { isSealed, openConversation, opaqueSeal, sealEvents, type OpenOptions } from './opaque-seal.ts'

/** Seals with a checksum without a key. */
function sealOf(origin: string) {
  return opaqueSeal((text) =>
    Bun.hash(origin + text)
      .toString(36)
      .padStart(22, '_'),
  )
}

const seal = sealOf('a')
const choice = 0
const anthropic: Opaque = { maker: 'anthropic', data: 'EqQB+/=' }
const google: Opaque = { maker: 'google', data: 'CqQB' }

function sealed(opaque: Opaque, text?: string): Opaque {
  return seal.seal({ text, opaque })
}

/** The parts of the only turn, opened. */
function opened(parts: readonly AssistantPart[], options: Partial<OpenOptions> = {}): readonly AssistantPart[] {
  const turns = [{ role: 'assistant' as const, parts }]
  const conversation: Pick<Conversation, 'turns'> = { turns }
  const [turn] = openConversation(conversation, { seal, keepsOpaque: false, ...options }).turns
  return turn?.role === 'assistant' ? turn.parts : []
}

const call = (opaque?: Opaque): AssistantPart => ({ kind: 'call', id: 'c', name: 'f', input: {}, opaque })
const thought = (text: string | undefined, opaque: Opaque | undefined): AssistantPart => {
  return { kind: 'reasoning', text, opaque }
}

describe('data that only its maker can read', () => {
  test('is wrapped, and unwrapped for its origin', () => {
    const of: fc.Arbitrary<Sealed> = fc.record({
      text: fc.option(fc.string({ unit: 'binary' }), { nil: undefined }),
      opaque: fc.record({
        maker: fc.constantFrom('anthropic', 'google', 'openrouter'),
        data: fc.string({ minLength: 1 }),
      }),
    })
    fc.assert(
      fc.property(of, ({ text, opaque }) => {
        const wrapped = seal.seal({ text, opaque })
        expect([wrapped.maker, isSealed(wrapped.data)]).toEqual(['sealed', true])
        expect(seal.open({ text, opaque: wrapped })).toEqual({ text, opaque })
        expect(sealOf('b').open({ text, opaque: wrapped })).toBeUndefined()
      }),
    )
  })

  test('is not unwrapped after any change', () => {
    const { data } = sealed(anthropic, 'Hm.')
    for (let at = 5; at < data.length; at++) {
      const changed = data.slice(0, at) + (data[at] === 'x' ? 'y' : 'x') + data.slice(at + 1)
      expect(seal.open({ text: 'Hm.', opaque: { maker: 'sealed', data: changed } })).toBeUndefined()
      const cut = { maker: 'sealed', data: data.slice(0, at) } as const
      expect(seal.open({ text: 'Hm.', opaque: cut })).toBeUndefined()
    }
    expect(seal.open({ text: 'Hm!', opaque: { maker: 'sealed', data } })).toBeUndefined()
    for (const odd of ['', 'svc1:', 'svc1::t', `svc1:${'_'.repeat(22)}:constructor`, 'EqQB'])
      expect(seal.open({ text: undefined, opaque: { maker: 'sealed', data: odd } })).toBeUndefined()
  })
})

describe('the events of an answer', () => {
  const events: readonly AnswerEvent[] = [
    { kind: 'reasoning', choice, text: 'Hm.' },
    { kind: 'sealed', choice, text: 'Hm.', opaque: anthropic },
    { kind: 'call', choice, call: 0, id: 'c', name: 'f', opaque: google },
    { kind: 'call', choice, call: 1, id: 'd', name: 'f', opaque: undefined },
  ]

  test('have their data wrapped', () => {
    expect(sealEvents(events, seal, false)).toEqual([
      { kind: 'reasoning', choice, text: 'Hm.' },
      { kind: 'sealed', choice, text: 'Hm.', opaque: sealed(anthropic, 'Hm.') },
      { kind: 'call', choice, call: 0, id: 'c', name: 'f', opaque: sealed(google) },
      { kind: 'call', choice, call: 1, id: 'd', name: 'f', opaque: undefined },
    ])
  })

  test('lose it where there is no seal, and stay the same without any', () => {
    expect(JSON.stringify(sealEvents(events, undefined, false))).not.toMatch(/opaque|sealed/)
    const plain = events.slice(0, 1)
    expect(sealEvents(plain, seal, false)).toBe(plain)
  })

  test('keep it for callers whose format carries it, but for that of Responses', () => {
    const openai = { maker: 'openai', data: 'gAAA' } as const
    const item: AnswerEvent = { kind: 'sealed', choice, text: 'Hm.', opaque: openai }
    expect(sealEvents([...events, item], seal, true)).toEqual([...events, { ...item, opaque: sealed(openai, 'Hm.') }])
    expect(seal.open({ text: 'Hm, as another client shows it.', opaque: sealed(openai, 'Hm.') })?.opaque).toEqual(
      openai,
    )
  })
})

describe('a conversation', () => {
  test('has the data of this provider', () => {
    const parts = [thought('Hm.', sealed(anthropic, 'Hm.')), thought('', sealed(anthropic)), call()]
    expect(opened(parts)).toEqual([thought('Hm.', anthropic), thought(undefined, anthropic), call()])
  })

  test('has the data of a call in the reasoning before it', () => {
    const parts = [thought('Hm.', sealed(google)), call(), thought('', sealed(google)), call(), call()]
    expect(opened(parts)).toEqual([thought('Hm.', undefined), call(google), call(google), call()])
  })

  test.each<readonly [string, Opaque]>([
    ['of another origin', sealOf('b').seal({ text: 'Hm.', opaque: anthropic })],
    ['that was changed', { ...sealed(anthropic, 'Hm.'), data: `${sealed(anthropic, 'Hm.').data}x` }],
    ['of a provider of the same format', anthropic],
  ])('keeps the text alone of data %s', (_name, opaque) => {
    expect(opened([thought('Hm.', opaque), call()])).toEqual([thought('Hm.', undefined), call()])
    expect(opened([thought('', opaque), thought(undefined, opaque), call()])).toEqual([call()])
  })

  test('of chat completions keeps data as its maker sent it, but not wrapped data of others', () => {
    const parts = [thought('Hm.', anthropic), call(google)]
    expect(opened(parts, { keepsOpaque: true, seal: undefined })).toEqual(parts)
    const wrapped = [thought('Hm.', sealed(anthropic, 'Hm.')), call(sealed(google))]
    expect(opened(wrapped, { keepsOpaque: true, seal: sealOf('b') })).toEqual([thought('Hm.', undefined), call()])
  })
})
