import { messageOf } from '../message-of.ts'
import { say } from '../texts/say.ts'

/** The part of the browser's speech recognition that dictation uses (Web Speech API). */
export interface Recognition {
  lang: string
  continuous: boolean
  interimResults: boolean
  onresult: ((event: RecognitionEvent) => void) | null
  onerror: ((event: { readonly error: string }) => void) | null
  onend: (() => void) | null
  start(): void
  abort(): void
}

/** Results so far. Those before `resultIndex` are as in the event before. */
export interface RecognitionEvent {
  readonly resultIndex: number
  readonly results: ArrayLike<{ readonly isFinal: boolean; readonly [index: number]: { readonly transcript: string } }>
}

/** Creates the browser's recognition. @throws without one */
export function browserRecognition(): Recognition {
  const found: unknown = Reflect.get(window, 'SpeechRecognition') ?? Reflect.get(window, 'webkitSpeechRecognition')
  if (typeof found !== 'function') throw new Error(say.voice.noRecognition)
  // The class is the browser's, with another name in some.
  return Reflect.construct(found, []) as Recognition
}

export interface DictateOptions {
  readonly recognition: Recognition
  /** The text of the field. */
  readonly text: () => string
  readonly onText: (text: string) => void
  /** Called once. @param fault a text for the user; absent at the end of the speech */
  readonly onEnd: (fault?: string) => void
}

/** Writes speech after the text of a field, until stopped. What a person types meanwhile stays. Returns the stop. */
export function dictate({ recognition, text, onText, onEnd }: DictateOptions): () => void {
  /** The text before what is not final yet, and with it. */
  let kept = text()
  let written = kept
  let fault: string | undefined
  let isOver = false

  function end(): void {
    if (isOver) return
    isOver = true
    onEnd(fault)
  }

  recognition.lang = navigator.language
  recognition.continuous = true
  recognition.interimResults = true
  recognition.onresult = ({ resultIndex, results }) => {
    if (isOver) return
    if (text() !== written) kept = text()
    let passing = ''
    for (const result of Array.from(results).slice(resultIndex)) {
      const heard = result[0]?.transcript ?? ''
      if (result.isFinal) kept = joined(kept, heard)
      else passing += heard
    }
    written = joined(kept, passing)
    onText(written)
  }
  recognition.onerror = ({ error }) => {
    fault = faults[error] ?? (error === 'aborted' ? undefined : say.voice.endedWith(error.slice(0, 60)))
  }
  recognition.onend = end
  try {
    recognition.start()
  } catch (error) {
    fault = messageOf(error)
    end()
  }
  return () => {
    isOver = true
    recognition.abort()
  }
}

const faults: Readonly<Record<string, string>> = say.voice.faults

/** Appends speech with one blank between. */
function joined(text: string, heard: string): string {
  const more = heard.trim()
  return more === '' || text === '' || /\s$/.test(text) ? text + more : `${text} ${more}`
}
