import { isRecord } from '../../src/base/json-value.ts'
import type { AuditLine } from '../../src/http/page/page-api.ts'
import { say } from '../texts/say.ts'
import { formatExactly, formatMoment } from '../ui/format.ts'

/** What was changed, such as `key {object} ended`, with a mark for its object. */
export function changeWords({ action }: Pick<AuditLine, 'action'>): string {
  return wordOf(say.audit.words, action) ?? `${action} {object}`
}

/** What was changed by its name: that of a key with its number, since names are not unique. */
export function objectWords({ object, keyName }: Pick<AuditLine, 'object' | 'keyName'>): string {
  return keyName === undefined ? itsWords(object) : say.audit.namedKey(keyName, object)
}

/** The name of a person or an object, or the service's words in its place, such as `without sign-in`. */
export function itsWords(name: string): string {
  return wordOf(say.audit.itsWords, name) ?? name
}

/** The way of a change, such as `via page`; of one without a person `by command line`. */
export function viaWords({ actor, via }: Pick<AuditLine, 'actor' | 'via'>): string {
  return wordOf(actor === via ? say.audit.byItself : say.audit.vias, via) ?? via
}

function wordOf(words: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined
}

/** A moment, to the minute or exactly. A changed entry may have any number. */
export function momentOf(time: number, format = formatMoment): string {
  return Math.abs(time) <= 8.64e15 ? format(time) : String(time)
}

const times = new Set(['expires', 'ended'])

/** What the change did to the facts of its object, such as `expires: never → Nov 24, 2026, 10:00 AM`. */
export function factsOf({ before, after }: Pick<AuditLine, 'before' | 'after'>): readonly string[] {
  const old = flattened(before)
  const facts = Array.from(flattened(after), ([name, value]) => {
    const was = old.get(name)
    return `${factName(name)}: ${was === undefined ? '' : `${was} → `}${value}`
  })
  const gone = Array.from(old).filter(([name]) => after === undefined || !flattened(after).has(name))
  return [...facts, ...gone.map(([name, value]) => say.audit.was(factName(name), value))]
}

function factName(name: string): string {
  return wordOf(say.audit.facts, name) ?? name
}

/** The members of JSON and of the objects in it. Text that is no JSON is one fact. */
function flattened(json: string | undefined): ReadonlyMap<string, string> {
  if (json === undefined) return new Map()
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return new Map([['text', json]])
  }
  const found = new Map<string, string>()
  add(value, 'value', found)
  return found
}

function add(value: unknown, name: string, found: Map<string, string>): void {
  if (isRecord(value)) {
    for (const [member, each] of Object.entries(value)) add(each, member, found)
    return
  }
  found.set(name, wordsOf(value, name))
}

function wordsOf(value: unknown, name: string): string {
  if (value === null) return name === 'expires' ? say.audit.never : say.audit.noValue
  if (Array.isArray(value)) return value.map((each) => wordsOf(each, '')).join(', ')
  if (typeof value === 'number' && times.has(name)) return momentOf(value, formatExactly)
  return typeof value === 'string' ? value : JSON.stringify(value)
}
