import { Buffer } from 'node:buffer'
import { readKey } from '../people/keys/key-form.ts'
import { hideSecrets } from '../upstream/hide-secrets.ts'
import { compilePattern, type Pattern } from './pattern.ts'

/** Secrets of providers by name; those whose names tell of a credential count. */
export type ProviderSecrets = Readonly<Record<string, string>>

/** Removes secrets, and the text of patterns. @throws {TooManySteps} */
export type RemoveSecrets = (text: string, patterns: readonly string[]) => string

const removed = '[removed]'
/** In the form of a key of this service, with or without its beginning. */
const keyForm = /(?:sk-)?svc_[0-9A-Za-z]{44}|svcm_[0-9A-Za-z]{44}/g
/** Limit of steps of all patterns in one text: some hundred milliseconds. */
const stepsMax = 20_000_000
/** Patterns that stay compiled. */
const patternsMax = 1_000

/** Makes the function that removes secrets: keys of providers, keys of this service, then the text of patterns. */
export function secretRemover(secrets: ProviderSecrets): RemoveSecrets {
  const hidden = hideSecrets({ apiKey: undefined, headers: {} }, secrets)
  const compiled = new Map<string, Pattern>()

  function patternOf(source: string): Pattern {
    const known = compiled.get(source) ?? compilePattern(source)
    if (compiled.size >= patternsMax) compiled.clear()
    compiled.set(source, known)
    return known
  }

  return (text, patterns) => {
    let clean = Buffer.from(hidden.inBody(Buffer.from(text))).toString()
    clean = clean.replace(keyForm, (found) => (typeof readKey(found) === 'object' ? removed : found))
    const steps = { left: stepsMax }
    for (const source of patterns) clean = without(clean, patternOf(source).find(clean, steps))
    return clean
  }
}

/** @param offsets starts and ends by turns */
function without(text: string, offsets: readonly number[]): string {
  if (offsets.length === 0) return text
  const pieces: string[] = []
  let end = 0
  for (let index = 0; index < offsets.length; index += 2) {
    pieces.push(text.slice(end, offsets[index]), removed)
    end = offsets[index + 1] ?? end
  }
  pieces.push(text.slice(end))
  return pieces.join('')
}
