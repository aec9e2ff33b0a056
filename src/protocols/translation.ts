import { hasMoreValues } from '../bytes/value-count.ts'
import type { AnswerEvent } from '../formats/answer.ts'
import type { Ask, FormatName } from '../formats/ask.ts'
import { completeAnswer } from '../formats/complete-answer.ts'
import type { Conversation, Turn } from '../formats/conversation.ts'
import { formats } from '../formats/format-list.ts'
import type { ChangeNotes, Talk } from '../formats/format.ts'
import { withAllowedNames, withCallersNames } from '../formats/function-names.ts'
import { HeldEnding } from '../formats/held-ending.ts'
import { MalformedAnswer } from '../formats/malformed-answer.ts'
import { openConversation, sealEvents } from '../formats/opaque-seal.ts'
import { droppedReasoning } from '../formats/reasoning-spans.ts'
import { setsChoices } from '../formats/splice-request.ts'
import { thinkTags } from '../formats/think-tags.ts'
import { pairedTurns } from '../formats/turns.ts'
import { untranslatable } from '../formats/untranslatable.ts'
import type { UpstreamFormat } from '../formats/upstream-format.ts'
import { noteRefused, throwIfError, withUpstreamFailures } from './native.ts'
import type { Dialect, Endpoint, ExchangeNotes, ModelTarget, Protocol } from './protocol.ts'

/**
 * For upstreams of this format: a dialect for each format of callers that can be translated. A protocol replaces those
 * that its upstreams speak themselves.
 */
export function translated(format: UpstreamFormat, path: Dialect['path']): Protocol['dialects'] {
  const dialects: { [Name in FormatName]?: Dialect } = {}
  for (const { name, talk } of Object.values(formats)) {
    if (talk !== undefined) dialects[name] = translation(talk, format, path)
  }
  return dialects
}

/** Translation blocks the event loop: one of this many values for some 0.1 s. */
const valuesMax = 100_000

/**
 * Writes requests from the caller's conversation, and answers in the caller's format. Both have at most 100,000 values.
 */
export function translation(talk: Talk, format: UpstreamFormat, path: Dialect['path']): Dialect {
  const keepsOpaque = talk.keepsOpaque === true

  return {
    path,
    encode(ask, model, target, notes) {
      const { seal, changes } = notes ?? {}
      const read = talk.read(limited(ask), target.profile.drop)
      noteRefused(ask, target.profile, changes)
      if (read.cacheKey !== undefined && !target.profile.takesCacheKey) changes?.drop('prompt_cache_key')
      const opened = openConversation(paired(read, changes), { seal, changes, keepsOpaque })
      if (opened.turns.some((turn) => isLost(turn, format, target))) changes?.drop(droppedReasoning)
      const { conversation, names } = withAllowedNames(opened, format.functionNames)
      if (notes !== undefined) notes.names = names
      return format.write(conversation, { ...target, model, isStream: ask.stream }, changes)
    },
    decode: withUpstreamFailures((body, ask, notes) => {
      if (hasMoreValues(body, valuesMax)) throw new MalformedAnswer('malformed', 'the answer has too many values')
      const read = throwIfError(format.readAnswer(body), notes?.brand)
      const events = untagging(notes)?.(read) ?? read
      const whole = isSplit(events, ask, talk, notes?.target) ? joined(events) : events
      return { ...talk.writeWhole(checking(notes, keepsOpaque)(whole), ask), model: modelOf(read) }
    }),
    stream(ask, target, notes) {
      const reader = format.answerReader()
      const writer = talk.writer(ask)
      const checked = checking(notes, keepsOpaque)
      const untagged = untagging(notes)
      const hasOneChoice = writer.hasOneChoice && !setsChoices(target)
      const ending = new HeldEnding(hasOneChoice && !keepsOpaque)
      const hold = (events: readonly AnswerEvent[]) => ending.hold(untagged?.(events) ?? events)
      let model: string | undefined
      return {
        get model() {
          return model
        },
        // Only chat completions stream several choices; `n` is their field.
        eventBytesMax: format.eventBytesMax,
        hasOneChoice,
        decode(event) {
          const events = throwIfError(reader.read(event), target.brand)
          if (model === undefined && events !== 'done') model = modelOf(events)
          return events === 'done' ? 'done' : writer.write(checked(hold(events)))
        },
        holdsEnd: () => ending.isWhole,
        finish: () => writer.write(checked([...hold(reader.end()), ...ending.release()])),
        end: () => [...writer.write(checked(ending.release())), ...writer.end()],
      }
    },
  }
}

/**
 * Starts checking the events of an answer. Functions get the caller's names back, and what only the upstream can read
 * is wrapped.
 */
function checking({ seal, names }: ExchangeNotes = {}, keepsOpaque = false) {
  const check = completeAnswer()
  return (events: readonly AnswerEvent[]) => {
    const checked = check(events)
    const named = names === undefined ? checked : withCallersNames(checked, names)
    return sealEvents(named, seal, keepsOpaque)
  }
}

/** The model that the start of an answer names. */
function modelOf([first]: readonly AnswerEvent[]): string | undefined {
  return first?.kind === 'start' ? first.model : undefined
}

/** Whether an answer has several choices, though the caller reads one alone. `n` is a field of chat completions. */
function isSplit(events: readonly AnswerEvent[], ask: Ask, talk: Talk, target?: ModelTarget): boolean {
  if (talk.keepsOpaque === true || (target !== undefined && setsChoices(target))) return false
  return events.some((event) => 'choice' in event && event.choice > 0) && talk.writer(ask).hasOneChoice
}

function isLost(turn: Turn, format: UpstreamFormat, target: ModelTarget): boolean {
  return turn.role === 'assistant' && format.losesReasoning(turn.parts, target)
}

/** The whole answer as one choice, with its last finish. */
function joined(events: readonly AnswerEvent[]): readonly AnswerEvent[] {
  const ending = new HeldEnding(true)
  return [...ending.hold(events), ...ending.release()]
}

function untagging({ target }: ExchangeNotes = {}): ReturnType<typeof thinkTags> | undefined {
  const tags = target?.profile.thinkTags ?? 'none'
  return tags === 'none' ? undefined : thinkTags(tags)
}

function paired(conversation: Conversation, changes: ChangeNotes | undefined): Conversation {
  const turns = pairedTurns(conversation.turns)
  if (turns === conversation.turns) return conversation
  changes?.adjust('messages')
  return { ...conversation, turns }
}

/** @throws {UpstreamFailure} for a request with too many values */
function limited(ask: Ask): Ask {
  if (hasMoreValues(ask.body, valuesMax)) throw untranslatable('A request of more than 100,000 values')
  return ask
}

/**
 * Returns the path of the base URL. Adds the API's version if the path has none, so that `https://api.example.com` and
 * `https://api.example.com/v1` mean the same.
 */
export function versionedPath({ baseUrl }: Endpoint, version: string): string {
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '')
  return /\/v\d+[a-z0-9]*(?:\/|$)/.test(path) ? path : `${path}/${version}`
}
