import type { FinishEvent, FinishReason } from '../answer.ts'

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['pause_turn', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** The reason that a `stop_reason` stands for. */
export function readStopReason(stopReason: string | undefined): FinishReason {
  return stopReason === undefined ? 'stop' : (finishReasons.get(stopReason) ?? 'other')
}

/**
 * The `stop_reason` of an answer. An answer with a call asks for its result, also if the upstream says otherwise. A
 * reason that only the upstream knows is kept: the answer may be incomplete, which `end_turn` would hide.
 */
export function writeStopReason(
  { reason, raw, stopSequence }: Pick<FinishEvent, 'reason' | 'raw' | 'stopSequence'>,
  hasCalls: boolean,
): string {
  if (reason === 'length') return raw === 'model_context_window_exceeded' ? raw : 'max_tokens'
  if (reason === 'content_filter') return 'refusal'
  if (hasCalls) return 'tool_use'
  if (reason === 'other') return raw ?? 'end_turn'
  if (stopSequence !== undefined) return 'stop_sequence'
  return raw === 'stop_sequence' || raw === 'pause_turn' ? raw : 'end_turn'
}

/** The reason of an answer that may say that it is over, although it asks for the results of calls. */
export function soundReason(stopReason: string | undefined, hasCalls: boolean): string | undefined {
  return hasCalls && stopReason === 'end_turn' ? 'tool_use' : stopReason
}
