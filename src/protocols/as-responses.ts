import type { Ask, FormatName } from '../formats/ask.ts'
import { textOf } from '../formats/exact-json.ts'
import { RequestDraft } from '../formats/request-draft.ts'
import type { TargetProfile } from '../profiles/profile.ts'
import { Changes } from '../service/changes.ts'
import { UpstreamFailure } from '../service/failure.ts'
import type { Dialect, ExchangeNotes, Protocol } from './protocol.ts'

/**
 * Dialects of providers that speak chat completions and Responses: requests that the target takes better as Responses
 * are written so ({@link TargetProfile.asResponses}). One that only chat completions can express stays there.
 */
export function asResponses(usual: Protocol['dialects'], responses: Protocol['dialects']): Protocol['dialects'] {
  const names: readonly FormatName[] = ['chat', 'messages', 'gemini']
  const dialects: { [Name in FormatName]?: Dialect } = {}
  for (const name of names) {
    const [chat, other] = [usual[name], responses[name]]
    if (chat !== undefined && other !== undefined) dialects[name] = eitherOf(chat, other)
  }
  return dialects
}

function eitherOf(usual: Dialect, responses: Dialect): Dialect {
  return {
    ...usual,
    encode(ask, model, target, notes) {
      if (!isBetterAsResponses(ask, target.profile.asResponses)) return usual.encode(ask, model, target, notes)
      const changes = new Changes()
      const tried: ExchangeNotes = { ...notes, changes }
      try {
        const body = responses.encode(ask, model, target, tried)
        if (notes !== undefined) {
          notes.names = tried.names
          notes.instead = responses
        }
        for (const name of changes.dropped) notes?.changes?.drop(name)
        for (const name of changes.adjusted) notes?.changes?.adjust(name)
        return body
      } catch (error) {
        if (!(error instanceof UpstreamFailure)) throw error
        return usual.encode(ask, model, target, notes)
      }
    },
  }
}

function isBetterAsResponses(ask: Ask, which: TargetProfile['asResponses']): boolean {
  if (which === 'no') return false
  if (which === 'all' || ask.format !== 'chat') return true
  if (which === 'translated') return false
  const draft = new RequestDraft(ask)
  const effort = textOf(draft.get('reasoning_effort'))
  const isRefused = effort === undefined ? which === 'tools' : effort !== 'none'
  return isRefused && draft.count('tools') > 0
}

/** Which requests are written in the other dialect. */
interface OtherDialect {
  isOther(ask: Ask, profile: TargetProfile): boolean
}

/** The native dialect, but for requests that the target does not take in it. */
export function unless(usual: Dialect, other: Dialect | undefined, { isOther }: OtherDialect): Dialect {
  if (other === undefined) return usual
  return {
    ...usual,
    encode(ask, model, target, notes) {
      if (!isOther(ask, target.profile)) return usual.encode(ask, model, target, notes)
      if (notes !== undefined) notes.instead = other
      return other.encode(ask, model, target, notes)
    },
  }
}
