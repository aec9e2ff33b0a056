import type { AnswerEvent, TextEvent } from './answer.ts'

const opening = '<think>'
const closing = '</think>'

/** Where the text of one choice is. */
interface TagState {
  place: 'start' | 'inside' | 'behind' | 'over'
  /** Text that may be part of a tag. */
  waiting: string
  /** The upstream has the reasoning in a field, too. */
  isSaid: boolean
}

/**
 * Makes reasoning of text between tags at the beginning of an answer, from servers that do not separate the two. It is
 * left out if the server sends it in a field, too.
 *
 * @param first `closing`: the text begins inside of the tags
 * @returns a function that passes on the events of each piece
 */
export function thinkTags(first: 'paired' | 'closing'): (events: readonly AnswerEvent[]) => readonly AnswerEvent[] {
  const states = new Map<number, TagState>()

  function read(event: AnswerEvent): readonly AnswerEvent[] {
    if (!('choice' in event)) return [event]
    const { choice } = event
    let state = states.get(choice)
    if (state === undefined)
      states.set(choice, (state = { place: first === 'closing' ? 'inside' : 'start', waiting: '', isSaid: false }))
    if (event.kind === 'text') return state.place === 'over' ? [event] : taken(state, event)
    if (event.kind === 'reasoning' || event.kind === 'sealed') state.isSaid = true
    else if (event.kind === 'finish' || event.kind === 'call') return [...rest(state, choice), event]
    return [event]
  }

  return (events) => {
    const [event, second] = events
    // The usual case: a piece of text behind the reasoning.
    const isText = second === undefined && event?.kind === 'text' && states.get(event.choice)?.place === 'over'
    return isText ? events : events.flatMap(read)
  }
}

/** The events of one more text. */
function taken(state: TagState, { choice, text }: TextEvent): readonly AnswerEvent[] {
  state.waiting += text
  const events: AnswerEvent[] = []
  if (state.place === 'start') enter(state)
  if (state.place === 'inside') {
    const thought = takeThought(state)
    if (thought !== '' && !state.isSaid) events.push({ kind: 'reasoning', choice, text: thought })
  }
  if (state.place === 'behind') {
    state.waiting = state.waiting.trimStart()
    if (state.waiting !== '') state.place = 'over'
  }
  if (state.place === 'over') events.push(...rest(state, choice))
  return events
}

/** Enters the tags, or leaves text that does not begin with one. */
function enter(state: TagState): void {
  const text = state.waiting.trimStart()
  if (text.startsWith(opening)) {
    state.place = 'inside'
    state.waiting = text.slice(opening.length).trimStart()
  } else if (!opening.startsWith(text)) state.place = 'over'
}

/** Takes the text before the closing tag, and passes the tag. */
function takeThought(state: TagState): string {
  const { waiting } = state
  const end = waiting.indexOf(closing)
  if (end !== -1) {
    state.place = 'behind'
    state.waiting = waiting.slice(end + closing.length)
    return waiting.slice(0, end)
  }
  let kept = Math.min(closing.length - 1, waiting.length)
  while (!closing.startsWith(waiting.slice(waiting.length - kept))) kept--
  state.waiting = waiting.slice(waiting.length - kept)
  return waiting.slice(0, waiting.length - kept)
}

/** What waits, when no more text comes. */
function rest(state: TagState, choice: number): readonly AnswerEvent[] {
  const { place, waiting, isSaid } = state
  state.place = 'over'
  state.waiting = ''
  if (waiting === '' || place === 'behind' || (place === 'inside' && isSaid)) return []
  return [{ kind: place === 'inside' ? 'reasoning' : 'text', choice, text: waiting }]
}
