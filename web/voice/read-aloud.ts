import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import { reading } from './reading.ts'
import { spokenPieces } from './spoken-pieces.ts'

/** The browser's speech. Replaced in tests. */
export interface Speech {
  readonly synthesis: Pick<SpeechSynthesis, 'speak' | 'cancel' | 'getVoices'>
  readonly utterance: (text: string) => SpeechSynthesisUtterance
  /** Such as `de-AT`. */
  readonly language: string
}

/** Errors of an utterance that was stopped on purpose. */
const stops: readonly string[] = ['canceled', 'interrupted']

/**
 * Reads an answer aloud, piece by piece, until {@link reading} names another one. Prefers a voice of this machine:
 * others are of a server of the browser's maker, which gets the text.
 */
export function readAloud(
  id: string,
  markdown: string,
  { synthesis, utterance, language }: Speech = browserSpeech(),
): void {
  const pieces = [...spokenPieces(markdown)]
  if (pieces.length === 0) return announce(say.voice.nothingToRead)
  synthesis.cancel()
  reading.set(id)
  const unsubscribe = reading.subscribe(() => {
    if (reading.get() === id) return
    unsubscribe()
    synthesis.cancel()
  })

  function speakNext(): void {
    if (reading.get() !== id) return
    const piece = pieces.shift()
    if (piece === undefined) return reading.set('')
    const next = utterance(piece)
    next.lang = language
    next.voice = localVoice(synthesis.getVoices(), language)
    next.onend = speakNext
    next.onerror = ({ error }) => {
      if (reading.get() !== id || stops.includes(error)) return
      announce(say.voice.cannotRead(error))
      reading.set('')
    }
    synthesis.speak(next)
  }

  speakNext()
}

function browserSpeech(): Speech {
  return {
    synthesis: speechSynthesis,
    utterance: (text) => new SpeechSynthesisUtterance(text),
    language: navigator.language,
  }
}

/** A voice of this machine for a language; `null`: the browser's choice. */
function localVoice(voices: readonly SpeechSynthesisVoice[], language: string): SpeechSynthesisVoice | null {
  const [main = ''] = language.toLowerCase().split('-')
  const local = voices.filter(({ localService, lang }) => localService && lang.toLowerCase().startsWith(main))
  return local.find(({ lang }) => lang.toLowerCase().replace('_', '-') === language.toLowerCase()) ?? local[0] ?? null
}
