import { createStore } from '../store.ts'

/** Id of the answer that is read aloud; empty if none is. Setting it to something else stops the reading. */
export const reading = createStore('')

/** Whether the browser can read aloud. */
export function canReadAloud(): boolean {
  return 'speechSynthesis' in window
}

/** Whether the browser can turn speech into text. */
export function canDictate(): boolean {
  return 'SpeechRecognition' in window || 'webkitSpeechRecognition' in window
}
