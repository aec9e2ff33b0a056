import { afterEach, describe, expect, test } from 'bun:test'
import { announcement } from '../ui/announce.ts'
import { readAloud, type Speech } from './read-aloud.ts'
import { reading } from './reading.ts'

/** A synthesis that says nothing, with what it was asked to say. */
function fakeSynthesis(): {
  readonly speech: Speech
  readonly said: SpeechSynthesisUtterance[]
  cancels: number
} {
  const said: SpeechSynthesisUtterance[] = []
  const voice = (name: string, lang: string, localService: boolean): SpeechSynthesisVoice =>
    ({ name, lang, localService }) as SpeechSynthesisVoice
  const fake = {
    said,
    cancels: 0,
    speech: {
      language: 'de-AT',
      utterance: (text: string) => ({ text }) as SpeechSynthesisUtterance,
      synthesis: {
        speak: (utterance: SpeechSynthesisUtterance) => void said.push(utterance),
        cancel: () => void fake.cancels++,
        getVoices: () => [voice('far', 'de-AT', false), voice('other', 'en-US', true), voice('near', 'de-DE', true)],
      },
    },
  }
  return fake
}

const over = (each: SpeechSynthesisUtterance | undefined): unknown =>
  each?.onend?.call(each, new Event('end') as SpeechSynthesisEvent)

afterEach(() => reading.set(''))

describe('reading aloud', () => {
  test('says one piece after the other, with a voice of this machine', () => {
    const { speech, said } = fakeSynthesis()
    readAloud('a1', 'One. **Two**.', speech)
    expect([reading.get(), said.map(({ text }) => text), said[0]?.voice?.name]).toEqual(['a1', ['One.'], 'near'])
    over(said[0])
    over(said[1])
    expect([reading.get(), said.map(({ text }) => text)]).toEqual(['', ['One.', 'Two.']])
  })

  test('stops when it is asked to, or another answer begins', () => {
    const fake = fakeSynthesis()
    readAloud('a1', 'One. Two.', fake.speech)
    const { cancels } = fake
    reading.set('')
    expect(fake.cancels).toBe(cancels + 1)
    over(fake.said[0])
    expect(fake.said.length).toBe(1)
    readAloud('a1', 'One. Two.', fake.speech)
    readAloud('a2', 'Three. Four.', fake.speech)
    expect([reading.get(), fake.said.at(-1)?.text]).toEqual(['a2', 'Three.'])
    over(fake.said[1])
    expect(fake.said.length).toBe(3)
  })

  test('says why it cannot, and that there is nothing', () => {
    const { speech, said } = fakeSynthesis()
    readAloud('a1', '---', speech)
    expect([reading.get(), announcement.get()]).toEqual(['', 'There is nothing to read aloud'])
    readAloud('a1', 'One.', speech)
    const [first] = said
    first?.onerror?.call(first, { error: 'canceled' } as SpeechSynthesisErrorEvent)
    expect(reading.get()).toBe('a1')
    first?.onerror?.call(first, { error: 'audio-busy' } as SpeechSynthesisErrorEvent)
    expect([reading.get(), announcement.get()]).toEqual(['', 'It cannot be read aloud: audio-busy'])
  })
})
