import type { Caller } from '../people/person.ts'
import type { AccessPolicy } from './access-policy.ts'
import { callerId, countedFor } from './named-limits.ts'

/** How content of a caller is kept. */
export interface ContentTerms {
  /** Milliseconds, above 0. */
  readonly keepMs: number
  /** Patterns of text that is removed before. */
  readonly redact: readonly string[]
}

/** The active rules of content. */
export interface ContentRules {
  /** `undefined`: no content of the caller is kept. */
  termsOf(caller: Caller): ContentTerms | undefined
}

/** Callers whose terms are remembered. */
const callersMax = 10_000

/** The rules of a policy; `undefined`: it has none. */
export function contentRules({ content, teams }: Pick<AccessPolicy, 'content' | 'teams'>): ContentRules | undefined {
  if (content === undefined) return undefined
  const rules = content
  const known = new Map<string, ContentTerms | undefined>()

  function find(caller: Caller): ContentTerms | undefined {
    const naming = rules.filter((rule) => countedFor(rule, caller, { teams }) !== undefined)
    if (naming.length === 0) return undefined
    const keepMs = Math.min(...naming.map((rule) => rule.keepMs))
    return keepMs === 0 ? undefined : { keepMs, redact: [...new Set(naming.flatMap(({ redact }) => redact))] }
  }

  return {
    termsOf(caller) {
      const id = callerId(caller)
      if (known.has(id)) return known.get(id)
      if (known.size >= callersMax) known.clear()
      const terms = find(caller)
      known.set(id, terms)
      return terms
    },
  }
}

/** The stricter of two terms: those at the arrival of a request, and those at its end. */
export function stricterTerms(
  one: ContentTerms | undefined,
  other: ContentTerms | undefined,
): ContentTerms | undefined {
  if (one === undefined || other === undefined || one === other) return one && other
  return {
    keepMs: Math.min(one.keepMs, other.keepMs),
    redact: [...new Set([...one.redact, ...other.redact])],
  }
}
